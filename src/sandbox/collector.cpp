#include "collector.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>

#include "asg/linux/io.hpp"
#include "asg/sandbox/output_files.hpp"

namespace asg::sandbox {
namespace {

constexpr int kMaxDepth = 16;
constexpr std::size_t kMaxEntries = 50'000;  // looked at
constexpr std::size_t kMaxTold = 32;         // faults told about: many of them must not hide the files
constexpr const char* kPrograms[] = {"main.py", "main.cjs", "main.mjs"};

sys::UniqueFd open_beneath(int directory, const std::string& path, std::uint64_t flags) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  return sys::UniqueFd(static_cast<int>(::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how)));
}

bool is_glob(const std::string& pattern) { return pattern.find_first_of("*?[") != std::string::npos; }

using Glob = std::vector<std::string>;  // its names, between the slashes

Glob split(const std::string& pattern) {
  Glob names;
  for (std::size_t start = 0; start <= pattern.size();) {
    const std::size_t end = std::min(pattern.find('/', start), pattern.size());
    names.push_back(pattern.substr(start, end - start));
    start = end + 1;
  }
  return names;
}

/// What is left of a glob below some directory.
struct Rest {
  const Glob* glob;
  std::size_t at;
  auto operator<=>(const Rest&) const = default;

  [[nodiscard]] const std::string& name() const { return (*glob)[at]; }
  [[nodiscard]] bool last() const { return at + 1 == glob->size(); }
  /// "**" stands for any number of directories, none as well; as the last name, for every file below.
  [[nodiscard]] bool deep() const { return name() == "**"; }
};
using Rests = std::set<Rest>;

void add(Rests& rests, Rest rest) {
  rests.insert(rest);
  if (rest.deep() && !rest.last()) add(rests, {rest.glob, rest.at + 1});
}

/// A name with a leading dot has to be asked for.
bool matches(const Rest& rest, const std::string& name) {
  return rest.deep() ? !name.starts_with('.') : ::fnmatch(rest.name().c_str(), name.c_str(), FNM_PERIOD) == 0;
}

const char* kind_of(mode_t mode) {
  if (S_ISLNK(mode)) return "is a symbolic link";
  if (S_ISDIR(mode)) return "is a directory";
  return "is not a regular file";
}

class Collection {
 public:
  explicit Collection(int directory) : directory_(directory) {}

  void take(const std::string& path) {
    if (!seen_.insert(path).second) return;
    OutputFile file{.path = path, .size = 0, .content = {}, .error = {}};
    read(file);
    std::size_t& count = file.error.empty() ? returned_ : told_;
    if (!file.error.empty() && told_ >= kMaxTold) {
      ++untold_;
      return;
    }
    ++count;
    files_.push_back(std::move(file));
  }

  [[nodiscard]] bool exists(const std::string& path) const {
    return static_cast<bool>(open_beneath(directory_, path, O_PATH | O_NOFOLLOW));
  }

  /// Goes only where a glob can still match.
  void walk(const std::string& prefix, const Rests& rests, int depth) {
    // The list is sorted, so that the same run returns the same files whatever the order of a directory is.
    for (const auto& [name, is_directory] : list(prefix)) {
      const std::string path = prefix + name;
      bool wanted = false;
      Rests below;
      for (const Rest& rest : rests) {
        if (!matches(rest, name)) continue;
        wanted = wanted || rest.last();
        if (rest.deep()) add(below, rest);
        else if (!rest.last()) add(below, {rest.glob, rest.at + 1});
      }
      const bool program = std::ranges::find(kPrograms, path) != std::end(kPrograms);
      if (wanted && !is_directory && !program) take(path);
      if (is_directory && !below.empty() && depth < kMaxDepth) walk(path + "/", below, depth + 1);
    }
  }

  [[nodiscard]] std::vector<OutputFile> finish() {
    if (untold_ > 0) {
      files_.push_back({.path = "*", .size = 0, .content = {}, .error = std::to_string(untold_) + " more could not be returned"});
    }
    if (looked_at_ > kMaxEntries) {
      files_.push_back({.path = "*", .size = 0, .content = {}, .error = "only the first " + std::to_string(kMaxEntries) +
                                                                       " files and directories were looked at"});
    }
    return std::move(files_);
  }

 private:
  using Entries = std::set<std::pair<std::string, bool>>;

  Entries list(const std::string& prefix) {
    Entries entries;
    auto fd = open_beneath(directory_, prefix.empty() ? "." : prefix, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(fd ? ::fdopendir(fd.get()) : nullptr, &::closedir);
    if (!stream) return entries;
    (void)fd.release();
    for (const dirent* entry = ::readdir(stream.get()); entry != nullptr; entry = ::readdir(stream.get())) {
      if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0) continue;
      if (++looked_at_ > kMaxEntries) break;
      entries.emplace(entry->d_name, entry->d_type == DT_DIR);
    }
    return entries;
  }

  void read(OutputFile& file) {
    // O_PATH first: opening a fifo or a device can block or do something.
    const auto there = open_beneath(directory_, file.path, O_PATH | O_NOFOLLOW);
    struct stat info {};
    if (!there || ::fstat(there.get(), &info) != 0) {
      file.error = errno == ELOOP || errno == EXDEV ? "leads through a link" : std::strerror(errno);
      return;
    }
    if (!S_ISREG(info.st_mode)) {
      file.error = kind_of(info.st_mode);
      return;
    }
    file.size = static_cast<std::uint64_t>(info.st_size);
    if (returned_ >= kMaxCollectedFiles) {
      file.error = "more than " + std::to_string(kMaxCollectedFiles) + " files";
    } else if (file.size > kMaxCollectedBytes - bytes_) {
      file.error = "too large: size " + std::to_string(file.size) + ", and all files together may have " +
                   std::to_string(kMaxCollectedBytes) + " bytes";
    } else {
      read_content(file);
    }
  }

  void read_content(OutputFile& file) {
    const auto fd = open_beneath(directory_, file.path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
    file.content.resize(file.size);
    std::size_t done = 0;
    while (fd && done < file.content.size()) {
      const ssize_t n = ::pread(fd.get(), file.content.data() + done, file.content.size() - done, static_cast<off_t>(done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      done += static_cast<std::size_t>(n);
    }
    if (!fd || done < file.content.size()) {
      file.error = std::string("cannot be read: ") + std::strerror(errno);
      file.content.clear();
    }
    bytes_ += file.content.size();
  }

  int directory_;
  std::set<std::string> seen_;
  std::vector<OutputFile> files_;
  std::size_t returned_ = 0;
  std::size_t told_ = 0;
  std::size_t untold_ = 0;
  std::uint64_t bytes_ = 0;
  std::size_t looked_at_ = 0;
};

}  // namespace

std::vector<OutputFile> collect(int directory, const std::vector<std::string>& patterns) {
  Collection collection(directory);
  std::vector<Glob> globs;
  for (const auto& pattern : patterns) {
    // A file may bear such a name itself: "a[1].txt".
    if (!is_glob(pattern) || collection.exists(pattern)) collection.take(pattern);
    if (is_glob(pattern)) globs.push_back(split(pattern));
  }
  Rests rests;
  for (const Glob& glob : globs) add(rests, {&glob, 0});
  if (!rests.empty()) collection.walk("", rests, 0);
  return collection.finish();
}

void run_collector(int directory, int patterns, int result) {
  ::alarm(kCollectSeconds);
  // A glob that takes for ever, or a directory of a million names, must not cost the others their share.
  (void)!::nice(5);
  auto asked = sys::read_again(patterns);
  if (!asked) ::_exit(1);
  const std::string bytes = encode_files(collect(directory, decode_patterns(*asked)));
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::write(result, bytes.data() + done, bytes.size() - done);
    if (n < 0) ::_exit(1);
    done += static_cast<std::size_t>(n);
  }
  ::_exit(0);
}

}  // namespace asg::sandbox
