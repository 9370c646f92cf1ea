#include "check.hpp"

#include <array>
#include <chrono>
#include <span>
#include <string_view>

namespace asg::app {
namespace {

using sandbox::Cause;
using sandbox::Language;
using sandbox::Outcome;

constexpr std::chrono::seconds kPatience{60};
constexpr std::size_t kOutputCap = 64 << 10;

/// A program and what its run must look like. The program prints "ok" when it found what was promised, else what it saw.
struct Probe {
  const char* promise;
  Language language;
  const char* code;
  Cause cause = Cause::exited;          // how it has to end
  const char* controller = nullptr;     // judged only when this limit is enforced here
  std::chrono::milliseconds timeout = kPatience;
};

constexpr Probe kProbes[] = {
    {"own processes only (PID namespace, /proc)", Language::python,
     "import os\npids = sorted(int(p) for p in os.listdir('/proc') if p.isdigit())\n"
     "print('ok' if pids == [1, os.getpid()] else pids)\n"},
    {"own user id, no capabilities", Language::python,
     "import os\ns = open('/proc/self/status').read()\n"
     "print('ok' if os.getuid() == 1000 and 'CapEff:\\t0000000000000000' in s and 'NoNewPrivs:\\t1' in s else s)\n"},
    {"system call filter", Language::python,
     "import ctypes\nl = ctypes.CDLL(None, use_errno=True)\nl.unshare(0x10000000)\n"
     "print('ok' if 'Seccomp:\\t2' in open('/proc/self/status').read() and ctypes.get_errno() == 1 else ctypes.get_errno())\n"},
    {"read-only files", Language::python,
     "try:\n    open('/usr/probe', 'w')\n    print('writable')\nexcept OSError as e:\n    print('ok' if e.errno == 30 else e)\n"},
    {"private working directory", Language::python,
     "import os\nopen('probe', 'w').write('x')\nopen('/tmp/probe', 'w')\nopen('/dev/shm/probe', 'w')\n"
     "print('ok' if os.getcwd() == '/workspace' else os.getcwd())\n"},
    {"no network but own loopback", Language::python,
     "import socket\ns = socket.socket()\ns.bind(('127.0.0.1', 0))\nt = socket.socket()\nt.settimeout(2)\n"
     "try:\n    t.connect(('192.0.2.1', 80))\n    print('connected')\nexcept OSError as e:\n    print('ok' if e.errno == 101 else e)\n"},
    {"time limit", Language::python, "import time\ntime.sleep(30)\n", Cause::timed_out, nullptr, std::chrono::milliseconds(300)},
    {"memory limit", Language::python, "b = []\nwhile True:\n    b.append(bytearray(1 << 24))\n", Cause::out_of_memory, "memory"},
    {"process limit", Language::python,
     "import os, time\nn = 0\ntry:\n    while n < 100000:\n        if os.fork() == 0:\n            time.sleep(60)\n        n += 1\n"
     "    print('no limit')\nexcept OSError:\n    print('ok')\n",
     Cause::exited, "processes"},
    {"file size limit", Language::python,
     "try:\n    with open('fill', 'wb') as f:\n        while True:\n            f.write(bytes(1 << 20))\nexcept OSError as e:\n"
     "    print('ok' if e.errno == 28 else e)\n"},
    {"python: CPython 3.11", Language::python, "import sys\nprint('ok' if sys.version_info[:2] == (3, 11) else sys.version)\n"},
    {"python: numpy", Language::python, "import numpy\nprint('ok')\n"},
    {"python: pandas", Language::python, "import pandas\nprint('ok')\n"},
    {"python: requests", Language::python, "import requests\nprint('ok')\n"},
    {"python: pillow", Language::python, "import PIL.Image\nprint('ok')\n"},
    {"javascript: Node 18", Language::javascript, "console.log(process.version.startsWith('v18.') ? 'ok' : process.version)\n"},
    {"javascript: axios", Language::javascript, "console.log(typeof require('axios').get === 'function' ? 'ok' : 'no')\n"},
    {"javascript: lodash", Language::javascript, "import _ from 'lodash'; console.log(_.last([1, 'ok']))\n"},
    {"javascript: dayjs", Language::javascript, "console.log(require('dayjs')('2024-01-01').isValid() ? 'ok' : 'no')\n"},
};

std::string first_line(std::string text) {
  constexpr std::size_t kLongest = 160;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const auto start = text.rfind('\n');
  if (start != std::string::npos) text.erase(0, start + 1);
  return text.substr(0, kLongest);
}

Finding judge(const Probe& probe, const Result<Outcome>& result) {
  Finding finding{.verdict = Verdict::missing, .promise = probe.promise, .detail = {}};
  if (!result) {
    finding.detail = result.error().to_string();
    return finding;
  }
  const bool said_ok = probe.cause != Cause::exited || result->out.text == "ok\n";
  if (result->cause == probe.cause && said_ok) {
    finding.verdict = Verdict::ok;
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(result->duration);
    finding.detail = "tried, " + std::to_string(ms.count()) + " ms";
  } else {
    finding.detail = first_line(result->out.text.empty() ? result->err.text : result->out.text);
    if (finding.detail.empty()) finding.detail = "ended with exit code " + std::to_string(result->exit_code);
  }
  return finding;
}

sandbox::RunSpec spec_of(const Probe& probe) {
  sandbox::RunSpec spec;
  spec.language = probe.language;
  spec.code = probe.code;
  spec.timeout = probe.timeout;
  spec.output_cap = kOutputCap;
  return spec;
}

bool is_required(const config::Config& config, const std::string& name) {
  for (const auto& required : config.sandbox.require) {
    if (required == name) return true;
  }
  return false;
}

std::vector<Finding> host_findings(const Host& host, const config::Config& config) {
  std::vector<Finding> findings;
  findings.push_back({Verdict::ok, "namespaces: user, PID, mount, network, IPC, UTS", "the launcher stands"});
  if (host.id_range) {
    findings.push_back({Verdict::ok, "a user id of its own for each sandbox",
                        std::to_string(host.launcher.uid_count) + " ids from " + std::to_string(host.launcher.uid_base)});
  } else {
    findings.push_back({Verdict::degraded, "a user id of its own for each sandbox",
                        "all sandboxes share one id: start as root or with CAP_SETUID and CAP_SETGID", false});
  }
  const auto enforced = host.cgroups->enforced();
  const std::string version = "cgroup v" + std::to_string(host.cgroups->version());
  for (const auto controller : {sys::Controller::memory, sys::Controller::processes, sys::Controller::cpu}) {
    const std::string name = sys::to_string(controller);
    if (enforced.contains(controller)) {
      const bool hybrid = host.cgroups->version() == 1;
      findings.push_back({hybrid ? Verdict::degraded : Verdict::ok, name + " can be limited",
                          hybrid ? version + ": works; v2 ends a run as a whole" : version, false});
    } else {
      findings.push_back({Verdict::missing, name + " can be limited",
                          host.cgroups->explain(), is_required(config, name)});
    }
  }
  return findings;
}

bool enforced_here(const Host& host, const char* controller) {
  if (controller == nullptr) return true;
  for (const auto each : host.cgroups->enforced()) {
    if (std::string_view(sys::to_string(each)) == controller) return true;
  }
  return false;
}

}  // namespace

Task<std::vector<Finding>> probe_all(const Host& host, const config::Config& config, executor::Runner& runner) {
  auto findings = host_findings(host, config);
  for (const Probe& probe : kProbes) {
    if (!enforced_here(host, probe.controller)) continue;  // already told as missing
    auto spec = spec_of(probe);
    executor::RunHooks hooks;
    auto result = co_await runner.run(std::move(spec), std::move(hooks));
    findings.push_back(judge(probe, result));
  }
  co_return findings;
}

Task<std::string> self_check(executor::Runner& runner) {
  constexpr std::array kQuick = {Probe{"python", Language::python, "print('ok')\n"},
                                 Probe{"javascript", Language::javascript, "console.log('ok')\n"}};
  for (const Probe& probe : kQuick) {
    auto spec = spec_of(probe);
    executor::RunHooks hooks;
    auto result = co_await runner.run(std::move(spec), std::move(hooks));
    const Finding finding = judge(probe, result);
    if (finding.verdict != Verdict::ok) co_return finding.promise + ": " + finding.detail;
  }
  co_return std::string();
}

std::string to_table(const std::vector<Finding>& findings) {
  constexpr std::array kNames = {"ok      ", "degraded", "missing "};
  constexpr std::size_t kWidth = 50;
  std::string table;
  for (const Finding& finding : findings) {
    std::string promise = finding.promise;
    promise.resize(std::max(kWidth, promise.size()), ' ');
    table += std::string(kNames[static_cast<std::size_t>(finding.verdict)]) + "  " + promise + "  " + finding.detail + "\n";
  }
  return table;
}

int exit_status(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    if (finding.verdict == Verdict::missing && finding.required) return 1;
  }
  return 0;
}

}  // namespace asg::app
