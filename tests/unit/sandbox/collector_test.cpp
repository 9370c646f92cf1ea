#include "sandbox/collector.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <random>
#include <regex>
#include <set>
#include <thread>

#include "asg/linux/unique_fd.hpp"
#include "asg/sandbox/output_files.hpp"
#include "support/temp_dir.hpp"

namespace asg::sandbox {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Collector : public testing::Test {
 protected:
  std::vector<OutputFile> collected(const std::vector<std::string>& patterns) const {
    const sys::UniqueFd directory(::open(work().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    return collect(directory.get(), patterns);
  }
  /// Paths of what came back whole.
  std::vector<std::string> returned(const std::vector<std::string>& patterns) const {
    std::vector<std::string> paths;
    for (const auto& file : collected(patterns)) {
      if (file.error.empty()) paths.push_back(file.path);
    }
    return paths;
  }
  OutputFile one(const std::string& pattern) const {
    const auto files = collected({pattern});
    EXPECT_EQ(files.size(), 1U) << pattern;
    return files.empty() ? OutputFile() : files[0];
  }
  void write(const std::string& name, std::string_view text = "x") const { (void)top_.write("work/" + name, text); }
  [[nodiscard]] fs::path work() const { return top_.path() / "work"; }

  test::TempDir top_;

  void SetUp() override {
    fs::create_directory(work());
    (void)top_.write("secret", "secret");
  }
};

TEST_F(Collector, ReadsBytesAsTheyAre) {
  std::string all;
  for (int c = 0; c < 256; ++c) all.push_back(static_cast<char>(c));
  write("dir/all.bin", all);
  write("empty", "");
  const auto file = one("dir/all.bin");
  EXPECT_EQ(file.content, all);
  EXPECT_EQ(file.size, 256U);
  EXPECT_EQ(one("empty").error, "");
  EXPECT_EQ(one("nothing").error, "No such file or directory");
}

TEST_F(Collector, GlobsAreSortedAndStayInTheirDirectory) {
  for (const char* name : {"b.txt", "a.txt", "c.csv", "sub/d.txt", ".hidden.txt", "sub/.dir/e.txt", "sub/more/f.txt"}) write(name);
  EXPECT_THAT(returned({"*.txt"}), ElementsAre("a.txt", "b.txt"));
  EXPECT_THAT(returned({"?.[ct]*"}), ElementsAre("a.txt", "b.txt", "c.csv"));
  EXPECT_THAT(returned({"*/*.txt"}), ElementsAre("sub/d.txt"));
  EXPECT_THAT(returned({".*"}), ElementsAre(".hidden.txt"));
  EXPECT_THAT(returned({"sub/*"}), ElementsAre("sub/d.txt"));
}

TEST_F(Collector, TwoStarsGoOverDirectoriesAndOverNone) {
  for (const char* name : {"a.txt", "sub/b.txt", "sub/more/c.txt", "sub/.dir/d.txt", "sub/more/e.csv"}) write(name);
  EXPECT_THAT(returned({"**/*.txt"}), ElementsAre("a.txt", "sub/b.txt", "sub/more/c.txt"));
  EXPECT_THAT(returned({"sub/**/*.txt"}), ElementsAre("sub/b.txt", "sub/more/c.txt"));
  EXPECT_THAT(returned({"**/more/*"}), ElementsAre("sub/more/c.txt", "sub/more/e.csv"));
  EXPECT_THAT(returned({"sub/**"}), ElementsAre("sub/b.txt", "sub/more/c.txt", "sub/more/e.csv"));
  EXPECT_THAT(returned({"**/**/*.csv"}), ElementsAre("sub/more/e.csv"));
}

TEST_F(Collector, AFileThatSeveralPatternsNameComesOnce) {
  write("a.txt");
  EXPECT_THAT(returned({"*", "a.txt", "**/a.*"}), ElementsAre("a.txt"));
}

TEST_F(Collector, TheProgramItselfHasToBeNamed) {
  write("main.py");
  write("sub/main.py");
  EXPECT_THAT(returned({"**/*"}), ElementsAre("sub/main.py"));
  EXPECT_THAT(returned({"main.py"}), ElementsAre("main.py"));
}

TEST_F(Collector, AFileMayBearTheNameOfAGlob) {
  write("a[1].txt", "itself");
  write("a1.txt", "matched");
  EXPECT_THAT(returned({"a[1].txt"}), ElementsAre("a[1].txt", "a1.txt"));
}

TEST_F(Collector, NoLinkIsFollowed) {
  write("real/x", "x");
  const fs::path out = work();
  fs::create_symlink(top_.path() / "secret", out / "absolute");
  fs::create_symlink("../secret", out / "relative");
  fs::create_symlink("real/x", out / "inside");
  fs::create_symlink("real", out / "directory");
  fs::create_symlink("..", out / "up");
  fs::create_symlink("/proc/self/root", out / "magic");
  fs::create_symlink("loop", out / "loop");
  for (const char* name : {"absolute", "relative", "inside", "directory", "up", "magic", "loop"}) {
    EXPECT_EQ(one(name).error, "is a symbolic link") << name;
  }
  for (const char* name : {"directory/x", "up/secret", "magic/etc/passwd"}) EXPECT_EQ(one(name).error, "leads through a link") << name;
  EXPECT_THAT(returned({"**/*"}), ElementsAre("real/x"));
  EXPECT_THAT(collected({"up/*", "directory/*", "magic/etc/*"}), IsEmpty());
}

// The tool refuses such paths; the collector does not rely on it.
TEST_F(Collector, NothingOutsideIsReached) {
  for (const auto& path : std::vector<std::string>{"../secret", "/etc/passwd", "real/../../secret", (top_.path() / "secret").string()}) {
    const auto file = one(path);
    EXPECT_NE(file.error, "") << path;
    EXPECT_EQ(file.content, "") << path;
  }
  EXPECT_THAT(returned({"../*", "/etc/*", "*/../../*"}), IsEmpty());
}

TEST_F(Collector, OnlyRegularFilesAreOpened) {
  ASSERT_EQ(::mkfifo((work() / "pipe").c_str(), 0600), 0);
  fs::create_directory(work() / "folder");
  const sys::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = (work() / "socket").string();
  ASSERT_LT(path.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, path.c_str(), path.size());
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(one("pipe").error, "is not a regular file");
  EXPECT_EQ(one("socket").error, "is not a regular file");
  EXPECT_EQ(one("folder").error, "is a directory");
  EXPECT_EQ(collected({"*"}).size(), 2U);  // a glob does not mean directories
}

TEST_F(Collector, AtMostThirtyTwoFilesAndTheRestIsTold) {
  for (int i = 100; i < 200; ++i) write("f" + std::to_string(i));
  const auto files = collected({"f*"});
  ASSERT_EQ(files.size(), 65U);
  EXPECT_THAT(returned({"f*"}), testing::SizeIs(32));
  EXPECT_EQ(files[32].error, "more than 32 files");
  EXPECT_EQ(files[64].path, "*");
  EXPECT_EQ(files[64].error, "36 more could not be returned");
}

TEST_F(Collector, FaultsDoNotHideFiles) {
  for (int i = 0; i < 200; ++i) fs::create_symlink("/etc/passwd", work() / ("a" + std::to_string(i)));
  write("z");
  EXPECT_THAT(returned({"*"}), ElementsAre("z"));
  EXPECT_EQ(collected({"*"}).size(), 32U + 1 + 1);
}

TEST_F(Collector, EightMebibytesTogether) {
  write("a", std::string(5 << 20, 'a'));
  write("b", std::string(4 << 20, 'b'));
  write("c", std::string(3 << 20, 'c'));
  const auto files = collected({"*"});
  ASSERT_EQ(files.size(), 3U);
  EXPECT_THAT(files[1].error, HasSubstr("size 4194304"));
  EXPECT_EQ(files[1].size, 4U << 20);
  EXPECT_EQ(files[1].content, "");
  EXPECT_THAT(returned({"*"}), ElementsAre("a", "c"));  // what still fits comes
}

TEST_F(Collector, ASparseFileIsAsLargeAsItSays) {
  write("sparse");
  ASSERT_EQ(::truncate((work() / "sparse").c_str(), off_t{1} << 40), 0);
  EXPECT_THAT(one("sparse").error, HasSubstr("too large: size 1099511627776"));
}

TEST_F(Collector, GoesSixteenDirectoriesDeep) {
  std::string path;
  for (int depth = 0; depth < 20; ++depth) {
    write(path + "f");
    path += "d/";
  }
  EXPECT_THAT(returned({"**/f"}), testing::SizeIs(17));
  EXPECT_EQ(one(path.substr(0, path.size() - 2) + "f").error, "");  // what is named is found at any depth
}

TEST_F(Collector, OddNames) {
  for (const std::string name : {"two\nlines", "-rf", "--", "\xff\xfe", "q\"uo'te", " ", "\t", "$(id)", "\\", "..a", "\u540d\u524d"}) {
    write(name, name);
    EXPECT_EQ(one(name).content, name);
  }
  const std::string longest(255, 'x');
  write(longest, "long");
  EXPECT_EQ(one(longest).content, "long");
  EXPECT_EQ(one(longest + "x").error, "File name too long");
  EXPECT_THAT(returned({"*"}), testing::SizeIs(11));  // all but the hidden one
}

/// Nobody is alive who could do this when files are collected; it would win nothing.
TEST_F(Collector, AFileThatBecomesALinkMeanwhileGivesNothingAway) {
  write("plain", "plain");
  fs::create_symlink(top_.path() / "secret", work() / "link");
  std::atomic<bool> stop = false;
  std::thread racer([&] {
    const std::string plain = (work() / "plain").string();
    const std::string link = (work() / "link").string();
    while (!stop) (void)::renameat2(AT_FDCWD, plain.c_str(), AT_FDCWD, link.c_str(), RENAME_EXCHANGE);
  });
  for (int round = 0; round < 2000; ++round) {
    for (const auto& file : collected({"plain", "*"})) EXPECT_NE(file.content, "secret");
  }
  stop = true;
  racer.join();
}

std::string pick(std::mt19937& random, std::initializer_list<const char*> pieces) { return pieces.begin()[random() % pieces.size()]; }

/// The same glob as a regular expression.
std::regex model(const std::string& glob) {
  std::string out;
  bool at_start = true;
  for (std::size_t i = 0; i < glob.size(); ++i) {
    if (at_start && glob.compare(i, 3, "**/") == 0) {
      out += "(?:[^./][^/]*/)*";
      i += 2;
      continue;
    }
    if (at_start && glob.substr(i) == "**") return std::regex(out + "(?:[^./][^/]*/)*[^./][^/]*");
    const char c = glob[i];
    const bool wild = c == '*' || c == '?';
    if (wild && at_start) out += "(?!\\.)";
    if (c == '*') out += "[^/]*";
    else if (c == '?') out += "[^/]";
    else if (c == '.') out += "\\.";
    else out += c;
    at_start = c == '/';
  }
  return std::regex(out);
}

TEST_F(Collector, GlobsMeanWhatTheModelMeans) {
  std::mt19937 random(20240301);  // fixed, so that a failure can be repeated
  std::set<std::string> all;
  for (int i = 0; i < 28; ++i) {  // fewer than a collection returns
    std::string path;
    for (auto depth = random() % 4; depth > 0; --depth) path += pick(random, {"D", "E", ".D", "DE"}) + "/";
    path += pick(random, {"a", "b", "ab", "a.b", ".a", "ba", "bab"});
    write(path);
    all.insert(path);
  }
  for (int round = 0; round < 1500; ++round) {
    std::string glob;
    for (auto names = random() % 3; names > 0; --names) glob += pick(random, {"D", "*", "**", "?", "D*", ".*", "**", "[DE]"}) + "/";
    glob += pick(random, {"*", "**", "a*", "?", "*b", "*.b", ".?", "a", "*a*", "??", "[ab]*"});
    const std::regex expected = model(glob);
    std::set<std::string> should;
    for (const auto& path : all) {
      if (std::regex_match(path, expected)) should.insert(path);
    }
    const auto found = returned({glob});
    ASSERT_EQ(std::set(found.begin(), found.end()), should) << glob;
  }
}

TEST(OutputFilesCodec, PatternsComeBack) {
  RunSpec spec;
  spec.output_files = {"a", "", "**/*.png", std::string("nul\0inside", 10), std::string(1024, 'x')};
  EXPECT_EQ(decode_patterns(encode_patterns(spec)), spec.output_files);
  EXPECT_THAT(decode_patterns({}), IsEmpty());
}

bool same(const OutputFile& a, const OutputFile& b) {
  return a.path == b.path && a.size == b.size && a.content == b.content && a.error == b.error;
}

TEST(OutputFilesCodec, FilesComeBackWhateverBytesTheyHold) {
  std::mt19937 random(20240302);
  const auto bytes = [&random](std::size_t most) {
    std::string text(random() % most, '\0');
    for (char& c : text) c = static_cast<char>(random());
    return text;
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<OutputFile> files(random() % 5);
    for (auto& file : files) file = {.path = bytes(40), .size = (std::uint64_t{random()} << 32) + random(), .content = bytes(4000), .error = bytes(9)};
    const auto decoded = decode_files(encode_files(files));
    ASSERT_TRUE(decoded) << round;
    ASSERT_TRUE(std::ranges::equal(*decoded, files, same)) << round;
  }
}

TEST(OutputFilesCodec, WhatIsCutShortIsRefused) {
  const std::vector<OutputFile> files = {{.path = "a", .size = 3, .content = "abc", .error = ""}, {.path = "b", .size = 0, .content = "", .error = "no"}};
  const std::string whole = encode_files(files);
  const std::size_t first = encode_files({files[0]}).size();
  for (std::size_t size = 1; size < whole.size(); ++size) {
    EXPECT_EQ(decode_files(std::span(whole.data(), size)).has_value(), size == first) << size;
  }
  EXPECT_FALSE(decode_files(whole + "x"));
}

TEST(OutputFilesCodec, NoChangedByteMakesItReadOutside) {
  const std::string good = encode_files({{.path = "a", .size = 3, .content = "abc", .error = ""}});
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const char byte : {'\0', '\x01', '\x7f', '\xff'}) {
      std::string bad = good;
      bad[at] = byte;
      const auto files = decode_files(bad);
      if (!files) continue;
      for (const auto& file : *files) EXPECT_LE(file.path.size() + file.content.size() + file.error.size(), bad.size());
    }
  }
}

}  // namespace
}  // namespace asg::sandbox
