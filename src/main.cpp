#include <cstdio>
#include <exception>

#include "asg/app/cli.hpp"

int main(int argc, char** argv) {
  try {
    return asg::app::run_cli(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "asg-sandbox: %s\n", error.what());
    return 1;
  }
}
