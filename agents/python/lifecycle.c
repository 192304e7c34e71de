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

/* The names of tracks are those of threads. */
static void
name_thread(struct native *native)
{
	PyObject *name, *whole;
	const char *utf8;

	native_named = native_age;
	name = PyObject_CallNoArgs(native->thread_name);
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
}

/* Before the first call of a process, or of a thread.  Whatever goes wrong,
 * the measured program goes on. */
void
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
		if (opened == NULL)
			PyErr_WriteUnraisable(native->start);
		Py_XDECREF(opened);
		if (native_state == NATIVE_OPENING)
			native_state = NATIVE_CLOSED;
	}
	if (native_state == NATIVE_OPEN)
		name_thread(native);
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
	options.period_ns = (int64_t)(period * 1e9);
	options.counters_ns = (int64_t)(counters * 1e9);
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

PyObject *
native_flush(PyObject *self, PyObject *args)
{
	double seconds = 10;
	int rc = 0;

	(void)self;
	if (!PyArg_ParseTuple(args, "|d", &seconds))
		return NULL;
	if (native_state == NATIVE_OPEN) {
		Py_BEGIN_ALLOW_THREADS rc =
		    poolscope_flush((int64_t)(seconds * 1e9));
		Py_END_ALLOW_THREADS
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
