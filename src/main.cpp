#include "asg/app/supervisor.hpp"
#include "asg/config/load.hpp"
int main(int, char**) {
  auto c = asg::config::load(std::nullopt);
  auto log = asg::init_log({.level = asg::LogLevel::debug});
  return asg::app::supervise(*c, asg::app::Mode::check, log);
}
