#include "image_info.hpp"

#include <nlohmann/json.hpp>

namespace asg::app {
namespace {

std::vector<std::string> packages(const nlohmann::json& image, const char* key) {
  std::vector<std::string> list;
  if (!image.contains(key) || !image.at(key).is_object()) return list;
  for (const auto& [name, version] : image.at(key).items()) {
    list.push_back(version.is_string() ? name + " " + version.get<std::string>() : name);
  }
  return list;
}

}  // namespace

tools::ImageInfo image_info(const std::string& json) {
  tools::ImageInfo info;
  const auto image = nlohmann::json::parse(json, nullptr, false);
  if (!image.is_object()) return info;
  if (image.contains("python") && image.at("python").is_string()) info.python = "CPython " + image.at("python").get<std::string>();
  if (image.contains("node") && image.at("node").is_string()) info.node = "Node " + image.at("node").get<std::string>();
  if (auto list = packages(image, "python_packages"); !list.empty()) info.python_packages = std::move(list);
  if (auto list = packages(image, "node_packages"); !list.empty()) info.node_packages = std::move(list);
  return info;
}

}  // namespace asg::app
