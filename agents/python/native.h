/*
 * native - what the parts of the Python module poolscope._native share.
 *
 *     value       texts and values of Python for the library
 *     lifecycle   open, close, fork; names of threads
 *     span        spans
 *     native      events, counters, the module itself
 *
 * The stable ABI of Python 3.10 and nothing else, so that one file serves every
 * later version.  The library is inside.  Calls hold the GIL, except those that
 * wait.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_PYTHON_NATIVE_H
#define AGENTS_PYTHON_NATIVE_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030A0000
#include <Python.h>

#include "agents/client/poolscope.h"

struct native {
	PyTypeObject *span, *counter;
	PyObject *nothing; /* the span of a module that is disabled */
	/* Functions of __init__.py. */
	PyObject *wrap, *start, *thread_name;
};

/* ---- value ---- */

/* `*text`, a str or bytes, in UTF-8; a str without such a form is replaced by
 * bytes.  Valid as long as `*text`; NULL with an exception. */
const char *native_utf8(PyObject **text);

/* 1: `*to` is the value; 0: it is None; -1: an exception.  `*hold` is NULL or
 * to be released after the use of `*to`. */
int native_value(
    PyObject *value, struct poolscope_attribute *to, PyObject **hold);

/* ---- lifecycle ---- */

/* Of the process, as is the library.  It opens itself at the first call, so
 * that an import costs nothing. */
enum native_state {
	NATIVE_BEFORE,
	NATIVE_OPENING,
	NATIVE_OPEN,
	NATIVE_CLOSED,
	NATIVE_DISABLED
};
extern enum native_state native_state;

/* Names of threads count from an open or a fork to the next. */
extern unsigned native_age;
extern _Thread_local unsigned native_named;

/* The first call of a process, or of a thread. */
void native_prepare(struct native *native);

static inline void
native_ready(struct native *native)
{
	if (__builtin_expect(
		native_state == NATIVE_BEFORE || native_named != native_age, 0))
		native_prepare(native);
}

PyObject *native_open(PyObject *self, PyObject *args);
PyObject *native_close(PyObject *self, PyObject *none);
PyObject *native_flush(PyObject *self, PyObject *args);
PyObject *native_stats(PyObject *self, PyObject *none);
PyObject *native_after_fork(PyObject *self, PyObject *none);

/* ---- span ---- */

extern PyType_Spec native_span_spec;

/* A span that records nothing. */
PyObject *native_no_span(struct native *native);
PyObject *native_span(
    PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);

#endif
