/*
 * native_tasks - spans of tasks that take turns in a thread, those of asyncio
 * and greenlets, and of threads that go on in a context of theirs.
 *
 * Without asyncio or greenlets a look at what is imported is all that it costs.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "agents/python/native.h"

enum { LANES = 1024, PASSED = 64 };

/* In use, in this process since it was opened; protected by the GIL. */
static bool lanes[LANES];
static unsigned lanes_age;

/* A function of a module, once that is imported. */
static bool
find(struct native *native, PyObject *module, const char *name,
    PyObject **function)
{
	PyObject *imported;

	if (*function != NULL)
		return true;
	imported = PyDict_GetItemWithError(native->imported, module);
	if (imported == NULL)
		return false;
	*function = PyObject_GetAttrString(imported, name);
	if (*function == NULL)
		PyErr_Clear(); /* it is being imported */
	return *function != NULL;
}

static bool
in_loop(struct native *native, const void **task)
{
	PyObject *loop, *current;

	if (!find(native, native->asyncio_events, "_get_running_loop",
		&native->running_loop) ||
	    !find(native, native->asyncio_tasks, "current_task",
		&native->current_task))
		return false;
	loop = PyObject_CallNoArgs(native->running_loop);
	if (loop == NULL || loop == Py_None) {
		PyErr_Clear();
		Py_XDECREF(loop);
		return false;
	}
	current =
	    PyObject_CallFunctionObjArgs(native->current_task, loop, NULL);
	PyErr_Clear();
	*task = current != Py_None ? current : NULL;
	Py_XDECREF(current);
	Py_DECREF(loop);
	return true;
}

/* The first greenlet of a thread has no parent: it is the thread. */
static bool
in_greenlet(struct native *native, const void **task)
{
	PyObject *current, *parent;

	if (!find(native, native->greenlet, "getcurrent",
		&native->current_greenlet))
		return false;
	current = PyObject_CallNoArgs(native->current_greenlet);
	parent =
	    current != NULL ? PyObject_GetAttrString(current, "parent") : NULL;
	PyErr_Clear();
	*task = current;
	Py_XDECREF(current);
	Py_XDECREF(parent);
	return parent != NULL && parent != Py_None;
}

/* Whatever was imported may make tasks later. */
enum native_place
native_place(struct native *native, const void **task)
{
	if (in_loop(native, task) || in_greenlet(native, task))
		return NATIVE_TASK;
	*task = NULL;
	return native->running_loop != NULL || native->current_greenlet != NULL
		   ? NATIVE_THREAD
		   : NATIVE_PLAIN;
}

/* The first free lane; beyond the last one, the last one. */
static unsigned
take_lane(void)
{
	unsigned lane = 0;

	if (lanes_age != native_age) {
		memset(lanes, 0, sizeof(lanes));
		lanes_age = native_age;
	}
	while (lane < LANES - 1 && lanes[lane])
		lane++;
	lanes[lane] = true;
	return lane;
}

/* Its number, from 1; protected by the GIL. */
static unsigned
this_thread(void)
{
	static unsigned threads;
	static _Thread_local unsigned number;

	if (number == 0)
		number = ++threads;
	return number;
}

/* The lane of the task, whose span `of` was or is NULL, as a track. */
static void
choose_lane(struct native_turn *turn, const struct native_turn *of)
{
	turn->takes = of == NULL || of->thread != 0 || of->task != turn->task ||
		      of->age != native_age;
	turn->lane = turn->takes ? take_lane() : of->lane;
	if (native_child != 0)
		snprintf(turn->track, sizeof(turn->track), "task %u %d",
		    turn->lane + 1, native_child);
	else
		snprintf(turn->track, sizeof(turn->track), "task %u",
		    turn->lane + 1);
}

void
native_turn_begin(struct native *native, PyObject *self,
    struct native_turn *turn, enum native_place place, const void *task,
    struct poolscope_span *span, const char *name, const char *category,
    const char *under)
{
	PyObject *outer = PyObject_CallNoArgs(native->get_span), *done;
	const struct native_turn *of;

	of = outer != NULL ? native_span_turn(native, outer) : NULL;
	turn->outer = outer;
	turn->task = task;
	turn->thread = place == NATIVE_THREAD ? this_thread() : 0;
	turn->age = native_age;
	turn->takes = false;
	/* Of a span of its own the thread knows itself whether that is over. */
	if (under == NULL && of != NULL &&
	    (of->thread == 0 || of->thread != turn->thread))
		under = of->context;
	if (place == NATIVE_TASK) {
		choose_lane(turn, of);
		poolscope_begin_beside(
		    span, name, category, under, turn->track);
	} else if (under != NULL) {
		poolscope_begin_under(span, name, category, under);
	} else {
		poolscope_begin(span, name, category);
	}
	poolscope_traceparent_of(span, turn->context);
	done = PyObject_CallFunctionObjArgs(native->set_span, self, NULL);
	PyErr_Clear();
	Py_XDECREF(done);
}

/* A span that goes on began within the one that ends, as a generator's does: it
 * is then within the next outer one.  `current` may be of another context,
 * whose spans need not lead to `self`. */
static void
pass_over(struct native *native, PyObject *current, PyObject *self,
    const struct native_turn *turn)
{
	struct native_turn *of;

	for (int i = 0; i < PASSED && current != NULL; i++) {
		of = native_span_turn(native, current);
		if (of == NULL)
			return;
		if (of->outer == self) {
			Py_XINCREF(turn->outer);
			of->outer = turn->outer;
			Py_DECREF(self);
			return;
		}
		current = of->outer;
	}
}

void
native_turn_end(struct native *native, PyObject *self, struct native_turn *turn)
{
	PyObject *current = PyObject_CallNoArgs(native->get_span), *done = NULL;

	/* Another context may end it: that has a current span of its own. */
	if (current == self)
		done = PyObject_CallFunctionObjArgs(
		    native->set_span, turn->outer, NULL);
	else
		pass_over(native, current, self, turn);
	PyErr_Clear();
	Py_XDECREF(done);
	Py_XDECREF(current);
	if (turn->takes && turn->age == native_age)
		lanes[turn->lane] = false;
	turn->task = NULL;
	turn->thread = turn->age = 0;
	Py_CLEAR(turn->outer);
}
