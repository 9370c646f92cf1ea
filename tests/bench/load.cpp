// A closed-loop load generator: N callers, each sends its next request when it has the answer to the last. Prints every latency in
// microseconds, one a line, then "elapsed MICROSECONDS". With --bare it starts the interpreter itself instead, in the image, and
// waits for its end: what the server is compared with.
//
//   asg_load call HOST PORT LANGUAGE CODE CALLERS REQUESTS PAUSE_MS
//   asg_load bare IMAGE LANGUAGE CODE CALLERS REQUESTS PAUSE_MS

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Micros = std::chrono::microseconds;

/// Does one request; throws when the answer is not that of a run that ended well.
using Request = std::function<void()>;

class Connection {
 public:
  Connection(const std::string& host, int port) {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) throw std::runtime_error("connect");
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { ::close(fd_); }

  /// The body of the answer to a whole request.
  std::string exchange(const std::string& request) const {
    if (::send(fd_, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) throw std::runtime_error("send");
    std::string answer;
    std::array<char, 16384> chunk{};
    for (;;) {
      const ssize_t n = ::recv(fd_, chunk.data(), chunk.size(), 0);
      if (n <= 0) throw std::runtime_error("the server closed the connection");
      answer.append(chunk.data(), static_cast<std::size_t>(n));
      const auto head = answer.find("\r\n\r\n");
      if (head == std::string::npos) continue;
      const auto length_at = answer.find("Content-Length: ");
      const auto length = static_cast<std::size_t>(std::atoll(answer.c_str() + length_at + 16));
      if (answer.size() >= head + 4 + length) return answer.substr(head + 4, length);
    }
  }

 private:
  int fd_;
};

std::string request_text(const std::string& language, const std::string& code) {
  const nlohmann::json body = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "tools/call"},
                               {"params", {{"name", "sandbox_execute"}, {"arguments", {{"language", language}, {"code", code}}}}}};
  const std::string text = body.dump();
  return "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(text.size()) +
         "\r\n\r\n" + text;
}

void run_bare(const std::string& image, const std::string& language, const std::string& code) {
  std::array<int, 2> out{};
  if (::pipe2(out.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(out[1], 1);
    if (::chroot(image.c_str()) != 0 || ::chdir("/") != 0) ::_exit(126);
    if (language == "python") ::execl("/usr/bin/python3.11", "python3.11", "-c", code.c_str(), nullptr);
    else ::execl("/usr/bin/node", "node", "-e", code.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(out[1]);
  std::array<char, 4096> chunk{};
  while (::read(out[0], chunk.data(), chunk.size()) > 0) {
  }
  ::close(out[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (status != 0) throw std::runtime_error("the bare interpreter failed");
}

/// One caller's request function; made in its own thread, so that each has a connection of its own.
Request make_request(const std::vector<std::string>& words) {
  if (words[0] == "bare") return [=] { run_bare(words[1], words[2], words[3]); };
  auto connection = std::make_shared<Connection>(words[1], std::atoi(words[2].c_str()));
  const std::string text = request_text(words[3], words[4]);
  return [=] {
    const std::string answer = connection->exchange(text);
    if (answer.find("\"exit_code\":0") == std::string::npos) throw std::runtime_error("not a good run: " + answer.substr(0, 300));
  };
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 7) {
    std::fprintf(stderr, "usage: asg_load call HOST PORT LANGUAGE CODE CALLERS REQUESTS PAUSE_MS | bare IMAGE LANGUAGE CODE ...\n");
    return 2;
  }
  const int callers = std::atoi(words[words.size() - 3].c_str());
  const int requests = std::atoi(words[words.size() - 2].c_str());
  const std::chrono::milliseconds pause(std::atoi(words.back().c_str()));
  std::atomic<int> left = requests;
  std::atomic<bool> failed = false;
  std::mutex lock;
  std::vector<Micros> latencies;
  const auto started = Clock::now();
  std::vector<std::thread> threads;
  for (int i = 0; i < callers; ++i) {
    threads.emplace_back([&] {
      try {
        const Request request = make_request(words);
        while (left.fetch_sub(1) > 0) {
          const auto before = Clock::now();
          request();
          const auto took = std::chrono::duration_cast<Micros>(Clock::now() - before);
          {
            const std::lock_guard guard(lock);
            latencies.push_back(took);
          }
          if (pause.count() > 0) std::this_thread::sleep_for(pause);
        }
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        failed = true;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const auto elapsed = std::chrono::duration_cast<Micros>(Clock::now() - started);
  for (const Micros latency : latencies) std::printf("%lld\n", static_cast<long long>(latency.count()));
  std::printf("elapsed %lld\n", static_cast<long long>(elapsed.count()));
  return failed ? 1 : 0;
}
