#include <fmt/format.h>

#include "asg/config/load.hpp"
#include "schema.hpp"

namespace asg::config {
namespace {

enum class Form {
  settings,      // key = value
  commented_out  // # key = value
};

std::string print(const Config& config, Form form) {
  const Config defaults;
  std::string out;
  std::string_view section;
  for (const Key& key : keys()) {
    if (key.section() != section) {
      section = key.section();
      out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", section);
    }
    const std::string range = key.range.empty() ? "" : fmt::format(" Allowed: {}.", key.range);
    out += fmt::format("# {} Default: {}.{}\n", key.doc, key.print(defaults), range);
    out += fmt::format("{}{} = {}\n", form == Form::commented_out ? "#" : "", key.leaf(), key.print(config));
  }
  return out;
}

}  // namespace

std::string print_config(const Config& config) {
  return print(config, Form::settings);
}

std::string shipped_config() {
  return "# Settings of asg-sandbox: every key, commented out, with its default. Sizes are bytes or text such as "
         "\"512MiB\".\n"
         "# An unknown key, a wrong type and a value out of range are refused at start, all at once.\n\n" +
         print(Config{}, Form::commented_out);
}

}  // namespace asg::config
