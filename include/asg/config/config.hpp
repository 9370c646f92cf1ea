#pragma once
// Every setting as one immutable value, with its default. Names, ranges and words stand in one table:
// src/config/schema.cpp. A new setting is a member here and a line there.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace asg::config {

struct Server {
  std::string listen = "127.0.0.1:8080";   // ADDR:PORT, [v6]:PORT; port 0 takes a free one
  std::vector<std::string> allowed_hosts;  // names accepted in Host beside loopback and the listen address
  std::vector<std::string> allowed_origins;
  bool allow_public_without_keys = false;  // listen beyond loopback though anybody may call
  std::uint64_t max_body_bytes = 32ULL << 20;
  std::uint64_t max_buffered_bytes = 256ULL << 20;  // of all requests at once
  std::uint32_t max_connections = 4096;
  std::chrono::seconds header_timeout{10};
  std::chrono::seconds body_timeout{30};
  std::chrono::seconds idle_timeout{75};
  std::chrono::seconds drain{20};  // server.drain_seconds
};

/// Files are opened by the supervisor and read by the front, anew on SIGHUP.
struct Access {
  std::string keys_file;  // lines "id sha256hex"; empty: no key is asked for
};

/// Requests to /mcp; 0: no limit. A burst of 0 is what comes together in ten seconds.
struct Rate {
  std::uint32_t key_per_minute = 0;
  std::uint32_t key_burst = 0;
  std::uint32_t key_concurrent = 0;
  std::uint32_t address_per_minute = 0;
  std::uint32_t address_burst = 0;
  std::uint32_t address_concurrent = 0;
};

struct Tls {
  std::string certificate_file;  // PEM, the chain included; empty: plain HTTP
  std::string key_file;          // PEM
};

struct Limits {
  std::uint32_t max_concurrent = 0;  // runs at once; 0: twice the cores
  std::uint32_t queue = 0;           // calls that may wait; 0: 16 times max_concurrent
  double default_timeout_seconds = 30;
  double max_timeout_seconds = 300;
  std::uint64_t memory_bytes = 512ULL << 20;
  double cpus = 1;               // CPU seconds a second
  std::uint32_t processes = 64;  // processes and threads
  std::uint64_t files_bytes = 256ULL << 20;
  std::uint32_t inodes = 16384;
  std::uint32_t open_files = 1024;
  std::uint64_t output_bytes = 1ULL << 20;  // of each stream
};

struct Sandbox {
  std::string image;   // directory of the runtime image; empty: "runtime" beside the program, then the installed one
  std::string runner;  // directory of our own files inside; empty: as above ("runner")
  std::uint32_t uid_base = 1878982656;  // first of uid_count ids outside, only used when started with the privilege
  std::uint32_t uid_count = 65536;
  std::string isolation = "warm";          // warm or fresh
  std::vector<std::string> require = {"memory", "processes", "cpu"};  // limits without which it refuses to serve
};

/// Sandboxes that wait for their program; 0: from limits.max_concurrent.
struct Pool {
  std::uint32_t python = 0;
  std::uint32_t python_data = 0;
  std::uint32_t javascript = 0;
};

struct Log {
  std::string level = "info";   // trace debug info warn error
  std::string format = "text";  // text or json
};

struct Config {
  Server server;
  Access access;
  Rate rate;
  Tls tls;
  Limits limits;
  Sandbox sandbox;
  Pool pool;
  Log log;
};

}  // namespace asg::config
