/*
 * native_lifecycle - open, close, fork; names of threads.
 * SPDX-License-Identifier: MIT
 */
#include <time.h>
#include <unistd.h>

#include "agents/python/native.h"

enum { OPENING_NS = 50000 };

enum native_state native_state;
unsigned native_age = 1;
int native_child;
_Thread_local unsigned native_named;

/* The thread that opens, at the first call of a process. */
static _Thread_local bool opens;

/* An error of ours, not an exception of a signal's handler: that goes on to the
 * program. */
static bool
is_error(void)
{
	return PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_Exception);
}

/* The names of tracks are those of threads. */
static int
name_thread(struct native *native)
{
	PyObject *name, *whole;
	const char *utf8;

	name = PyObject_CallNoArgs(native->thread_name);
	if (name == NULL && !is_error())
		return -1;
	native_named = native_age;
	if (name != NULL && native_child != 0) {
		whole = PyUnicode_FromFormat("%S %d", name, native_child);
		Py_DECREF(name);
		name = whole;
	}
	utf8 = name != NULL ? native_utf8(&name) : NULL;
	if (utf8 != NULL)
		poolscope_thread(utf8);
	else
		PyErr_Clear();
	Py_XDECREF(name);
	return 0;
}

/* Before the first call of a process, or of a thread.  Whatever goes wrong,
 * the measured program goes on. */
int
native_prepare(struct native *native)
{
	PyObject *opened;

	/* What other threads record meanwhile would be lost. */
	while (native_state == NATIVE_OPENING && !opens) {
		Py_BEGIN_ALLOW_THREADS nanosleep(
		    &(struct timespec){ 0, OPENING_NS }, NULL);
		Py_END_ALLOW_THREADS
	}
	if (native_state == NATIVE_BEFORE) {
		native_state = NATIVE_OPENING;
		opens = true;
		opened = PyObject_CallNoArgs(native->start);
		opens = false;
		if (opened == NULL && !is_error()) {
			native_state = NATIVE_BEFORE;
			return -1;
		}
		if (opened == NULL)
			PyErr_WriteUnraisable(native->start);
		Py_XDECREF(opened);
		if (native_state == NATIVE_OPENING)
			native_state = NATIVE_CLOSED;
	}
	return native_state == NATIVE_OPEN ? name_thread(native) : 0;
}

static int64_t
ns_of(double seconds)
{
	double ns = seconds * 1e9;

	if (!(ns > 0))
		return 0;
	return ns < 1e18 ? (int64_t)ns : (int64_t)1e18;
}

PyObject *
native_open(PyObject *self, PyObject *args)
{
	struct poolscope_options options = { 0 };
	long long ring_bytes, total_bytes;
	double period, counters;
	int rc;

	(void)self;
	if (!PyArg_ParseTuple(args, "zzzzLLddp", &options.program,
		&options.socket, &options.partition, &options.node, &ring_bytes,
		&total_bytes, &period, &counters, &options.quiet))
		return NULL;
	if (native_state == NATIVE_DISABLED)
		Py_RETURN_NONE;
	options.ring_bytes = ring_bytes > 0 ? (size_t)ring_bytes : 0;
	options.total_bytes = total_bytes > 0 ? (size_t)total_bytes : 0;
	options.period_ns = ns_of(period);
	options.counters_ns = ns_of(counters);
	Py_BEGIN_ALLOW_THREADS if (native_state == NATIVE_OPEN)
	    poolscope_close();
	rc = poolscope_open(&options);
	Py_END_ALLOW_THREADS if (rc != 0)
	{
		native_state = NATIVE_CLOSED;
		return PyErr_SetFromErrno(PyExc_OSError);
	}
	native_state = NATIVE_OPEN;
	native_age++;
	Py_RETURN_NONE;
}

PyObject *
native_close(PyObject *self, PyObject *none)
{
	int was = native_state;

	(void)self;
	(void)none;
	if (was != NATIVE_DISABLED)
		native_state = NATIVE_CLOSED;
	if (was == NATIVE_OPEN) {
		Py_BEGIN_ALLOW_THREADS poolscope_close();
		Py_END_ALLOW_THREADS
	}
	Py_RETURN_NONE;
}

/* In slices: the handlers of signals run between them. */
PyObject *
native_flush(PyObject *self, PyObject *args)
{
	const int64_t slice_ns = 500000000;
	double seconds = 10;
	int64_t left_ns;
	int rc = 0;

	(void)self;
	if (!PyArg_ParseTuple(args, "|d", &seconds))
		return NULL;
	left_ns = ns_of(seconds);
	while (native_state == NATIVE_OPEN) {
		Py_BEGIN_ALLOW_THREADS rc =
		    poolscope_flush(left_ns < slice_ns ? left_ns : slice_ns);
		Py_END_ALLOW_THREADS left_ns -= slice_ns;
		if (PyErr_CheckSignals() != 0)
			return NULL;
		if (rc == 0 || left_ns <= 0)
			break;
	}
	return PyBool_FromLong(rc == 0);
}

PyObject *
native_stats(PyObject *self, PyObject *none)
{
	struct poolscope_stats stats;

	(void)self;
	(void)none;
	poolscope_get_stats(&stats);
	return Py_BuildValue("{sKsKsKsKsKsKsKsKsN}", "recorded",
	    (unsigned long long)stats.recorded, "dropped",
	    (unsigned long long)stats.dropped, "sent",
	    (unsigned long long)stats.sent, "refused",
	    (unsigned long long)stats.refused, "lost",
	    (unsigned long long)stats.lost, "cut",
	    (unsigned long long)stats.cut, "ring_bytes",
	    (unsigned long long)stats.ring_bytes, "rings",
	    (unsigned long long)stats.rings, "connected",
	    PyBool_FromLong(stats.connected));
}

/* One of several processes of a program: threads are named again. */
PyObject *
native_is_child(PyObject *self, PyObject *none)
{
	(void)self;
	(void)none;
	native_age++;
	/* The thread that was opening is the parent's. */
	if (native_state == NATIVE_OPENING && !opens)
		native_state = NATIVE_BEFORE;
	native_child = getpid();
	Py_RETURN_NONE;
}
