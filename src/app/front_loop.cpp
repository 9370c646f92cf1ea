#include "front_loop.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdio>

#include "asg/executor/executor.hpp"
#include "check.hpp"

namespace asg::app {
namespace {

class Front {
 public:
  Front(const FrontStart& start, FrontSockets sockets)
      : start_(start),
        executor_(io_, {.max_concurrent = concurrency_of(start.config), .queue = queue_of(start.config)}, start.log.named("executor")),
        sockets_(std::move(sockets)) {}

  int run() {
    executor_.attach(std::move(sockets_.launcher));
    boost::asio::co_spawn(io_, check(), boost::asio::detached);
    io_.run();
    return status_;
  }

 private:
  Task<void> check() {
    auto findings = co_await probe_all(start_.host, start_.config, executor_);
    const std::string table = to_table(findings);
    std::fputs(table.c_str(), stdout);
    status_ = exit_status(findings);
    io_.stop();
  }

  const FrontStart& start_;
  boost::asio::io_context io_{1};
  executor::Executor executor_;
  FrontSockets sockets_;
  int status_ = 0;
};

}  // namespace

int run_front(const FrontStart& start, FrontSockets sockets) { return Front(start, std::move(sockets)).run(); }

}  // namespace asg::app
