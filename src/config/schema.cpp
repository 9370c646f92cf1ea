#include "schema.hpp"

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace asg::config {
namespace {

constexpr std::uint64_t kKiB = std::uint64_t{1} << 10;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kMaxId = std::numeric_limits<std::uint32_t>::max() - 1;  // the last one means "no id"

template <class Section, class Value, class Codec>
Key key(std::string_view name, Value Section::*member, Section Config::*section, Codec codec, std::string_view doc) {
  return Key{.name = name,
             .doc = doc,
             .range = codec.range(),
             .read = [=](Config& config, const toml::node& node) -> std::optional<std::string> {
               auto value = codec.read(node);
               if (!value) return std::move(value).error();
               if constexpr (std::is_unsigned_v<Value> && !std::is_same_v<Value, bool>) {
                 if (!std::in_range<Value>(*value)) return "is too large";
               }
               config.*section.*member = static_cast<Value>(*std::move(value));
               return std::nullopt;
             },
             .print = [=](const Config& config) { return codec.print(config.*section.*member); }};
}

std::vector<Key> make_keys() {
  constexpr auto server = &Config::server;
  constexpr auto access = &Config::access;
  constexpr auto rate = &Config::rate;
  constexpr auto tls = &Config::tls;
  constexpr auto limits = &Config::limits;
  constexpr auto sandbox = &Config::sandbox;
  constexpr auto pool = &Config::pool;
  constexpr auto log = &Config::log;
  // clang-format off
  return {
    key("server.listen",                 &Server::listen,                  server,  ListenAddress{},          "Address and port of serve; port 0 takes a free one."),
    key("server.allowed_hosts",          &Server::allowed_hosts,           server,  TextList{},               "Names accepted in the Host header beside loopback and the listen address."),
    key("server.allowed_origins",        &Server::allowed_origins,         server,  TextList{},               "Origins of web pages that may call; without the header a caller is no web page."),
    key("server.allow_public_without_keys", &Server::allow_public_without_keys, server, Flag{},               "Listen beyond loopback without access.keys_file: everybody who reaches the port may run code."),
    key("server.max_body_bytes",         &Server::max_body_bytes,          server,  Bytes{kKiB, kGiB},        "Largest request body."),
    key("server.max_buffered_bytes",     &Server::max_buffered_bytes,      server,  Bytes{kKiB, 1024 * kGiB}, "Request bodies in memory, all together; the first 64 KiB of each are not counted."),
    key("server.max_connections",        &Server::max_connections,         server,  Integer{1, 1'000'000},    "Connections open at once."),
    key("server.header_timeout_seconds", &Server::header_timeout,          server,  Seconds{1, 3600},         "Time a caller has for the header of a request."),
    key("server.body_timeout_seconds",   &Server::body_timeout,            server,  Seconds{1, 3600},         "Time a caller has for the body of a request."),
    key("server.idle_timeout_seconds",   &Server::idle_timeout,            server,  Seconds{1, 86'400},       "Time a connection may stay open between two requests."),
    key("server.drain_seconds",          &Server::drain,                   server,  Seconds{0, 3600},         "Time that running calls have to end after SIGTERM."),

    key("access.keys_file",              &Access::keys_file,               access,  Text{},                   "Keys of callers, one line each: an id and the SHA-256 of the key in hex; empty: none is asked for. Read again on SIGHUP."),

    key("rate.key_per_minute",           &Rate::key_per_minute,            rate,    Integer{0, 1'000'000},    "Requests to /mcp in a minute with one key; 0: no limit."),
    key("rate.key_burst",                &Rate::key_burst,                 rate,    Integer{0, 1'000'000},    "As many may come at once; 0: ten seconds' worth."),
    key("rate.key_concurrent",           &Rate::key_concurrent,            rate,    Integer{0, 1'000'000},    "Requests at work at once with one key; 0: no limit."),
    key("rate.address_per_minute",       &Rate::address_per_minute,        rate,    Integer{0, 1'000'000},    "Requests to /mcp in a minute from one address (IPv6: one /64), before any key is looked at; 0: no limit."),
    key("rate.address_burst",            &Rate::address_burst,             rate,    Integer{0, 1'000'000},    "As many may come at once; 0: ten seconds' worth."),
    key("rate.address_concurrent",       &Rate::address_concurrent,        rate,    Integer{0, 1'000'000},    "Requests at work at once from one address; 0: no limit."),

    key("tls.certificate_file",          &Tls::certificate_file,           tls,     Text{},                   "Certificate chain (PEM); with it the server speaks HTTPS only. Read again on SIGHUP."),
    key("tls.key_file",                  &Tls::key_file,                   tls,     Text{},                   "Private key of the certificate (PEM, without a passphrase). Read again on SIGHUP."),

    key("limits.max_concurrent",         &Limits::max_concurrent,          limits,  Integer{0, 10'000},       "Runs at once; 0: twice the cores."),
    key("limits.queue",                  &Limits::queue,                   limits,  Integer{0, 1'000'000},    "Calls that may wait for a slot; 0: 16 times max_concurrent."),
    key("limits.default_timeout_seconds", &Limits::default_timeout_seconds, limits, Number{0.001, 86'400},    "Wall-clock limit of a run that asks for none."),
    key("limits.max_timeout_seconds",    &Limits::max_timeout_seconds,     limits,  Number{0.001, 86'400},    "Longest wall-clock limit that a call may ask for."),
    key("limits.memory_bytes",           &Limits::memory_bytes,            limits,  Bytes{16 * kMiB, 4096 * kGiB}, "Memory of a run, its files included; no swap."),
    key("limits.cpus",                   &Limits::cpus,                    limits,  Number{0.01, 1024},       "CPU seconds a second."),
    key("limits.processes",              &Limits::processes,               limits,  Integer{4, 1'000'000},    "Processes and threads of a run."),
    key("limits.files_bytes",            &Limits::files_bytes,             limits,  Bytes{64 * kKiB, 4096 * kGiB}, "Files a run may write, all together."),
    key("limits.inodes",                 &Limits::inodes,                  limits,  Integer{64, 100'000'000}, "Files and directories a run may make."),
    key("limits.open_files",             &Limits::open_files,              limits,  Integer{32, 1'000'000},   "Open files of one process of a run."),
    key("limits.output_bytes",           &Limits::output_bytes,            limits,  Bytes{1, kGiB},           "Kept of each output stream; more is cut from its middle, never an error."),

    key("sandbox.image",                 &Sandbox::image,                  sandbox, Text{},                   "Directory of the runtime image; empty: \"runtime\" beside the program, then the installed one."),
    key("sandbox.runner",                &Sandbox::runner,                 sandbox, Text{},                   "Directory of our own files inside a sandbox; empty: as above (\"runner\")."),
    key("sandbox.uid_base",              &Sandbox::uid_base,               sandbox, Integer{1, kMaxId},       "First of uid_count host ids that runs use; only when started with the privilege for it."),
    key("sandbox.uid_count",             &Sandbox::uid_count,              sandbox, Integer{2, kMaxId},       "Host ids from uid_base on that runs use."),
    key("sandbox.require",               &Sandbox::require,                sandbox, ChoiceList{{"memory", "processes", "cpu"}}, "Limits without which serve refuses to start."),

    key("sandbox.isolation",             &Sandbox::isolation,              sandbox, Choice{{"warm", "fresh"}}, "warm: ready sandboxes, each used once; fresh: every run starts its interpreter anew."),

    key("pool.python",                   &Pool::python,                    pool,    Integer{0, 10'000},       "Ready sandboxes with the standard library imported; 0: limits.max_concurrent."),
    key("pool.python_data",              &Pool::python_data,               pool,    Integer{0, 10'000},       "Ready sandboxes with numpy, pandas, requests and pillow imported; 0: limits.max_concurrent."),
    key("pool.javascript",               &Pool::javascript,                pool,    Integer{0, 10'000},       "Ready Node processes; 0: half of limits.max_concurrent."),

    key("log.level",                     &Log::level,                      log,     Choice{{"trace", "debug", "info", "warn", "error"}}, "Least level that is written."),
    key("log.format",                    &Log::format,                     log,     Choice{{"text", "json"}}, "Lines on standard error as text or JSON."),
  };
  // clang-format on
}

}  // namespace

const std::vector<Key>& keys() {
  static const std::vector<Key> table = make_keys();
  return table;
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> table = {
      {"server.max_buffered_bytes", "server.max_body_bytes", "must not be below server.max_body_bytes",
       [](const Config& c) { return c.server.max_buffered_bytes >= c.server.max_body_bytes; }},
      {"tls.certificate_file", "tls.key_file", "and tls.key_file belong together: set both or none",
       [](const Config& c) { return c.tls.certificate_file.empty() == c.tls.key_file.empty(); }},
      {"limits.default_timeout_seconds", "limits.max_timeout_seconds", "must not be above limits.max_timeout_seconds",
       [](const Config& c) { return c.limits.default_timeout_seconds <= c.limits.max_timeout_seconds; }},
      {"limits.files_bytes", "limits.memory_bytes",
       "must be below limits.memory_bytes: files count as memory, and a full disk must not look like a lack of memory",
       [](const Config& c) { return c.limits.files_bytes < c.limits.memory_bytes; }},
      {"sandbox.uid_base", "sandbox.uid_count", "and sandbox.uid_count go beyond the last user id (4294967294)",
       [](const Config& c) { return std::uint64_t{c.sandbox.uid_base} + c.sandbox.uid_count - 1 <= kMaxId; }},
  };
  return table;
}

}  // namespace asg::config
