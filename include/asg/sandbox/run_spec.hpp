#pragma once
// What a caller asks for: a value, checked before it comes here.

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace asg::sandbox {

enum class Language { python, javascript };

/// A file laid into the working directory before the run.
struct InputFile {
  std::string path;  // relative, without ".." (checked by the tool)
  std::string content;
};

struct RunSpec {
  Language language = Language::python;
  std::string code;                         // UTF-8 without NUL
  std::optional<std::string> stdin_text;    // none: standard input is at end of file
  std::vector<std::pair<std::string, std::string>> env;  // added to the sandbox's own variables
  std::vector<InputFile> files;
  std::vector<std::string> output_files;    // paths or globs to return after the run
  std::chrono::nanoseconds timeout{};       // wall clock, > 0
  std::size_t output_cap = 0;               // bytes kept of each stream, > 0
};

}  // namespace asg::sandbox
