#include "program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "main_process.hpp"
#include "payload_reader.hpp"
#include "asg/sandbox/protocol.hpp"

namespace asg::zygote {
namespace {

using sandbox::Control;
using sandbox::ControlType;
using sandbox::kGoFd;
using sandbox::kPayloadFd;
using sandbox::kWordsFd;
using sandbox::PayloadReader;
using sandbox::PlanFile;

constexpr const char* kMain = "/workspace/main.py";

void say(ControlType type, unsigned value) {
  const Control message{.type = type, .value = value, .stage = 0, .index = 0};
  (void)!::write(kWordsFd, &message, sizeof message);
}

[[noreturn]] void broken() {
  say(ControlType::failed, static_cast<unsigned>(errno));
  ::_exit(127);
}

/// Calls a hook; its failure is a bug of ours.
void call(PyObject* hooks, const char* name, PyObject* argument = nullptr) {
  PyObject* hook = PyDict_GetItemString(hooks, name);
  PyObject* result = hook == nullptr ? nullptr : PyObject_CallFunctionObjArgs(hook, argument, nullptr);
  if (result == nullptr) broken();
  Py_DECREF(result);
}

/// A program may have broken what this calls: that is its own affair, and its end stands.
void wind_up(PyObject* hooks, const char* name, PyObject* argument) {
  PyObject* result = PyObject_CallFunctionObjArgs(PyDict_GetItemString(hooks, name), argument, nullptr);
  if (result == nullptr) PyErr_WriteUnraisable(nullptr);
}

void await_go() {
  Control message;
  ssize_t n = -1;
  do {
    n = ::read(kGoFd, &message, sizeof message);
  } while (n < 0 && errno == EINTR);
  if (n != sizeof message || message.type != ControlType::go) ::_exit(0);  // not needed any more
  ::close(kGoFd);
}

void set_variable(const char* text) {
  const char* equals = std::strchr(text, '=');
  PyObject* os = PyImport_ImportModule("os");
  PyObject* environ = os == nullptr ? nullptr : PyObject_GetAttrString(os, "environ");
  PyObject* name = equals == nullptr ? nullptr : PyUnicode_DecodeFSDefaultAndSize(text, equals - text);
  PyObject* value = equals == nullptr ? nullptr : PyUnicode_DecodeFSDefault(equals + 1);
  if (environ == nullptr || name == nullptr || value == nullptr || PyObject_SetItem(environ, name, value) != 0) broken();
  Py_DECREF(name);
  Py_DECREF(value);
  Py_DECREF(environ);
  Py_DECREF(os);
}

void make_parents(const char* path) {
  std::array<char, 4096> prefix{};
  for (std::size_t i = 0; path[i] != '\0' && i + 1 < prefix.size(); ++i) {
    if (path[i] == '/' && i > 0 && ::mkdir(prefix.data(), 0755) != 0 && errno != EEXIST) broken();
    prefix[i] = path[i];
  }
}

void write_file(const PlanFile& file) {
  make_parents(file.path);
  const int fd = ::open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (fd < 0) broken();
  for (std::size_t done = 0; done < file.size;) {
    const ssize_t n = ::write(fd, file.content + done, file.size - done);
    if (n < 0) broken();
    done += static_cast<std::size_t>(n);
  }
  ::close(fd);
}

/// Lays out variables and files; returns the program's text (the first file).
PyObject* take_payload() {
  struct stat info {};
  if (::fstat(kPayloadFd, &info) != 0) broken();
  const auto size = static_cast<std::size_t>(info.st_size);
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, kPayloadFd, 0);
  if (start == MAP_FAILED) broken();
  PayloadReader reader(static_cast<const char*>(start), size);
  std::uint64_t count = 0;
  if (!reader.count(count)) broken();
  for (; count > 0; --count) {
    const char* variable = nullptr;
    if (!reader.variable(variable)) broken();
    set_variable(variable);
  }
  if (!reader.count(count) || count == 0) broken();
  PyObject* program = nullptr;
  for (; count > 0; --count) {
    PlanFile file{};
    if (!reader.file(file)) broken();
    write_file(file);
    if (program == nullptr) program = PyBytes_FromStringAndSize(file.content, static_cast<Py_ssize_t>(file.size));
    if (program == nullptr) broken();
  }
  ::munmap(start, size);
  ::close(kPayloadFd);
  return program;
}

struct End {
  int exit_code = 0;
  int signal = 0;
};

/// Python/pythonrun.c, handle_system_exit: nothing is 0, a number is itself, anything else is said on stderr and 1.
int system_exit_code() {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  PyObject* code = value == nullptr ? nullptr : PyObject_GetAttrString(value, "code");
  PyErr_Clear();
  if (code == nullptr || code == Py_None) return 0;
  if (PyLong_Check(code)) return static_cast<int>(PyLong_AsLong(code)) & 0xff;
  PyObject* err = PySys_GetObject("stderr");
  if (err != nullptr && err != Py_None) {
    PyFile_WriteObject(code, err, Py_PRINT_RAW);
    PyFile_WriteString("\n", err);
  }
  PyErr_Clear();
  return 1;
}

End report_exception() {
  if (PyErr_ExceptionMatches(PyExc_SystemExit)) return {.exit_code = system_exit_code()};
  const bool interrupted = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0;
  PyErr_PrintEx(0);  // through sys.excepthook, as ever
  // Python/main.c: an interrupt that nobody caught ends the process by the signal.
  return interrupted ? End{.exit_code = 130, .signal = SIGINT} : End{.exit_code = 1};
}

End execute(PyObject* program, PyObject* main) {
  // compile() reads bytes as it reads a file: declared encodings, byte order mark, line ends.
  PyObject* builtins = PyEval_GetBuiltins();
  PyObject* compile = PyDict_GetItemString(builtins, "compile");
  // (source, filename, mode, flags = 0, dont_inherit = True)
  PyObject* code = PyObject_CallFunction(compile, "OssiO", program, kMain, "exec", 0, Py_True);
  Py_DECREF(program);
  if (code == nullptr) return report_exception();
  PyObject* names = PyModule_GetDict(main);
  PyObject* result = PyEval_EvalCode(code, names, names);
  Py_DECREF(code);
  if (result == nullptr) return report_exception();
  Py_DECREF(result);
  return {};
}

/// Nothing of ours lies below the program: not in tracebacks, not in inspect.stack(), not in its recursion depth.
void cut_frames() {
  PyThreadState* state = PyThreadState_Get();
  state->cframe->current_frame = nullptr;
  state->recursion_remaining = state->recursion_limit;
}

}  // namespace

void run_program(PyObject* hooks, bool warm_up) {
  const pid_t self = ::getpid();
  call(hooks, "reseed");
  if (warm_up) call(hooks, "warm_up");
  PyObject* new_main = PyDict_GetItemString(hooks, "new_main");
  PyObject* main = new_main == nullptr ? nullptr : PyObject_CallNoArgs(new_main);
  if (main == nullptr) broken();
  cut_frames();
  say(ControlType::ready, 0);
  await_go();
  PyObject* program = take_payload();
  say(ControlType::running, 0);
  const End end = execute(program, main);
  wind_up(hooks, "finish", main);
  wind_up(hooks, "flush", nullptr);
  if (end.signal != 0) {
    ::signal(end.signal, SIG_DFL);
    ::kill(self, end.signal);
  }
  // A child that the program forked comes by here, too, and may not speak for it.
  if (::getpid() == self) say(ControlType::exited, static_cast<unsigned>(end.exit_code) << 8);
  ::_exit(end.exit_code);
}

}  // namespace asg::zygote
