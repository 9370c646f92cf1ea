#pragma once
#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace asg::zygote {

/// In a fresh child that is isolated already: gets ready, waits for the payload, runs it as `python main.py` would, says how it
/// ended on the control socket and ends. hooks: the functions of main.py by name.
[[noreturn]] void run_program(PyObject* hooks, bool warm_up);

}  // namespace asg::zygote
