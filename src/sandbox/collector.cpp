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
constexpr std::size_t kMaxEntries = 50'000;   // looked at
constexpr std::size_t kMaxListed = 64;        // returned or told about
constexpr const char* kPrograms[] = {"main.py", "main.cjs", "main.mjs"};

sys::UniqueFd open_beneath(int directory, const std::string& path, std::uint64_t flags) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV;
  return sys::UniqueFd(static_cast<int>(::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how)));
}

bool is_glob(const std::string& pattern) { return pattern.find_first_of("*?[") != std::string::npos; }

/// "**" goes over directories, "*" does not; a name with a leading dot has to be asked for.
bool matches(const std::string& pattern, const std::string& path) {
  const bool deep = pattern.find("**") != std::string::npos;
  return ::fnmatch(pattern.c_str(), path.c_str(), deep ? FNM_PERIOD : FNM_PATHNAME | FNM_PERIOD) == 0;
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
    if (files_.size() >= kMaxListed) return;
    OutputFile file{.path = path, .size = 0, .content = {}, .error = {}};
    read(file);
    if (file.error.empty()) ++returned_;
    files_.push_back(std::move(file));
  }

  void walk(const std::string& prefix, const std::vector<std::string>& globs, int depth) {
    // The list is sorted, so that the same run returns the same files whatever the order of a directory is.
    for (const auto& [name, is_directory] : list(prefix)) {
      const std::string path = prefix + name;
      const bool program = std::ranges::find(kPrograms, path) != std::end(kPrograms);
      const bool wanted = !program && std::ranges::any_of(globs, [&](const auto& glob) { return matches(glob, path); });
      if (wanted && !is_directory) take(path);
      if (is_directory && depth < kMaxDepth) walk(path + "/", globs, depth + 1);
    }
  }

  [[nodiscard]] std::vector<OutputFile> finish() { return std::move(files_); }

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
  std::uint64_t bytes_ = 0;
  std::size_t looked_at_ = 0;
};

}  // namespace

std::vector<OutputFile> collect(int directory, const std::vector<std::string>& patterns) {
  Collection collection(directory);
  std::vector<std::string> globs;
  for (const auto& pattern : patterns) {
    if (is_glob(pattern)) globs.push_back(pattern);
    else collection.take(pattern);
  }
  if (!globs.empty()) collection.walk("", globs, 0);
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
