#include "asg/config/load.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <system_error>
#include <utility>

#include "schema.hpp"

namespace asg::config {
namespace {

// Steps of one character from one word to the other (Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, change}));
    }
  }
  return row[b.size()];
}

// The known key that was most likely meant: the right name in the wrong section counts as near.
std::string_view nearest_key(std::string_view section, std::string_view leaf) {
  const auto far = [&](const Key& key) { return 2 * distance(leaf, key.leaf()) + distance(section, key.section()); };
  return std::ranges::min_element(keys(), {}, far)->name;
}

std::string_view nearest_section(std::string_view name) {
  return std::ranges::min_element(keys(), {}, [&](const Key& key) { return distance(name, key.section()); })->section();
}

bool known_section(std::string_view name) {
  return std::ranges::any_of(keys(), [&](const Key& key) { return key.section() == name; });
}

const Key* find_key(std::string_view section, std::string_view leaf) {
  const auto found =
      std::ranges::find_if(keys(), [&](const Key& key) { return key.section() == section && key.leaf() == leaf; });
  return found == keys().end() ? nullptr : &*found;
}

/// Reads one parsed file and collects what is wrong with it.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  void read(const toml::table& root) {
    for (const auto& [name, node] : root) {
      if (const toml::table* table = node.as_table(); !known_section(name.str())) {
        add(name.source().begin, name.str(),
            fmt::format("unknown {}; the nearest known one is [{}]",
                        table != nullptr ? "section" : "key outside a section", nearest_section(name.str())));
      } else if (table == nullptr) {
        add(name.source().begin, name.str(), fmt::format("must be a section: [{}]", name.str()));
      } else {
        read_section(name.str(), *table);
      }
    }
    check_rules();
  }

  std::expected<Config, Problems> take() && {
    if (problems_.empty()) return std::move(config_);
    std::ranges::stable_sort(problems_, {}, [](const Problem& p) { return std::pair(p.line, p.column); });
    return std::unexpected(std::move(problems_));
  }

 private:
  void read_section(std::string_view section, const toml::table& table) {
    for (const auto& [leaf, node] : table) {
      const toml::source_position at = leaf.source().begin;
      const std::string name = fmt::format("{}.{}", section, leaf.str());
      const Key* key = find_key(section, leaf.str());
      if (key == nullptr) {
        add(at, name, fmt::format("unknown key; the nearest known one is {}", nearest_key(section, leaf.str())));
        continue;
      }
      set_.emplace(name, at);
      if (const auto wrong = key->read(config_, node)) {
        add(node.source().begin, name, *wrong);
        wrong_.insert(name);
      }
    }
  }

  void check_rules() {
    for (const Rule& rule : rules()) {
      if (wrong_.contains(rule.first) || wrong_.contains(rule.second) || rule.holds(config_)) continue;
      const auto first = set_.find(rule.first);
      const auto blamed = first != set_.end() ? first : set_.find(rule.second);
      add(blamed == set_.end() ? toml::source_position{} : blamed->second, std::string(rule.first),
          std::string(rule.message));
    }
  }

  void add(toml::source_position at, std::string_view key, std::string message) {
    problems_.push_back(
        {.file = file_, .line = at.line, .column = at.column, .key = std::string(key), .message = std::move(message)});
  }

  const std::string& file_;
  Config config_;
  Problems problems_;
  std::map<std::string, toml::source_position, std::less<>> set_;  // keys of the file and where they stand
  std::set<std::string, std::less<>> wrong_;                       // those that could not be read
};

}  // namespace

std::string Problem::to_string() const {
  std::string out = file;
  if (line != 0) out += fmt::format(":{}:{}", line, column);
  if (!key.empty()) out += ": " + key;
  return out + ": " + message;
}

std::expected<Config, Problems> parse(std::string_view text, const std::string& name) {
  try {
    const toml::table root = toml::parse(text, name);
    Reader reader(name);
    reader.read(root);
    return std::move(reader).take();
  } catch (const toml::parse_error& error) {  // toml++ stops at the first fault of the language itself
    const toml::source_position at = error.source().begin;
    return std::unexpected(Problems{
        {.file = name, .line = at.line, .column = at.column, .key = {}, .message = std::string(error.description())}});
  }
}

std::expected<Config, Problems> load(const std::optional<std::filesystem::path>& file) {
  if (!file) return Config{};
  std::error_code not_there;
  errno = 0;
  std::ifstream in;
  // The stream of a directory opens, and throws when it is read.
  if (std::filesystem::is_directory(*file, not_there)) {
    errno = EISDIR;
  } else {
    in.open(*file, std::ios::binary);
  }
  if (!in.is_open()) {
    return std::unexpected(Problems{{.file = file->string(),
                                     .line = 0,
                                     .column = 0,
                                     .key = {},
                                     .message = std::string("cannot be read: ") + std::strerror(errno)}});
  }
  const std::string text(std::istreambuf_iterator<char>(in), {});
  return parse(text, file->string());
}

}  // namespace asg::config
