/*
 * native - what the parts of the Python module poolscope._native share.
 *
 *     value       texts and values of Python for the library
 *     lifecycle   open, close, fork; names of threads
 *     tasks       spans of tasks that take turns in a thread
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
#include <stdbool.h>

#include "agents/client/poolscope.h"

struct native {
	PyTypeObject *span, *counter;
	PyObject *nothing; /* the span of a module that is disabled */
	/* Functions of __init__.py, and of its ContextVar. */
	PyObject *wrap, *start, *thread_name, *get_span, *set_span;
	/* What is imported, and functions of it, NULL before that. */
	PyObject *imported;
	PyObject *asyncio_events, *asyncio_tasks, *greenlet; /* names */
	PyObject *running_loop, *current_task, *current_greenlet;
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

/* The first call of a process, or of a thread; -1 with the exception of a
 * signal's handler. */
int native_prepare(struct native *native);

static inline int
native_ready(struct native *native)
{
	if (__builtin_expect(
		native_state == NATIVE_BEFORE || native_named != native_age, 0))
		return native_prepare(native);
	return 0;
}

/* Of a process that is one of several of a program, else 0: its tracks are
 * named after it, too. */
extern int native_child;

PyObject *native_open(PyObject *self, PyObject *args);
PyObject *native_close(PyObject *self, PyObject *none);
PyObject *native_flush(PyObject *self, PyObject *args);
PyObject *native_stats(PyObject *self, PyObject *none);
PyObject *native_is_child(PyObject *self, PyObject *none);

/* ---- tasks ---- */

/* Such a span overlaps others.  It is the current one of its context
 * (PEP 567), and shown on a lane of its task: a trace has as many of them as
 * tasks ran at once.  Where there may be tasks, a span outside of them is the
 * current one of its context, too: a task, or a thread that runs in a copy of
 * the context, goes on within it. */
struct native_turn {
	PyObject *outer; /* of the context before, or NULL */
	const void *task;
	unsigned thread; /* of a span outside of tasks, else 0 */
	unsigned lane, age;
	bool takes; /* this span took the lane for its task */
	char context[POOLSCOPE_TRACEPARENT_BYTES];
	char track[32];
};

enum native_place {
	NATIVE_PLAIN,  /* there are no tasks */
	NATIVE_THREAD, /* a thread without tasks, where others may have some */
	NATIVE_TASK    /* a thread that runs tasks which take turns */
};

/* Where the caller is.  In a thread with tasks `*task` is the address of the
 * current one, NULL outside of tasks. */
enum native_place native_place(struct native *native, const void **task);

/* Begin `span` of the object `self`, not in NATIVE_PLAIN. */
void native_turn_begin(struct native *native, PyObject *self,
    struct native_turn *turn, enum native_place place, const void *task,
    struct poolscope_span *span, const char *name, const char *category,
    const char *under);
/* After the end of its span. */
void native_turn_end(
    struct native *native, PyObject *self, struct native_turn *turn);

/* ---- span ---- */

extern PyType_Spec native_span_spec;

/* The turn of a span, NULL if the object is none or has none. */
struct native_turn *native_span_turn(struct native *native, PyObject *object);
/* The span of the current context, a new reference, or NULL; its library's
 * part is `*span`. */
PyObject *native_context_span(
    struct native *native, const struct poolscope_span **span);

/* A span that records nothing. */
PyObject *native_no_span(struct native *native);
PyObject *native_span(
    PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names);

#endif
