/*
 * native - the Python module poolscope._native: libpoolscope for Python.
 * SPDX-License-Identifier: MIT
 */
#include "agents/python/native.h"

struct counter {
	PyObject ob_base;
	struct poolscope_counter *is;
};

PyMODINIT_FUNC PyInit__native(void);

/* ---- events ---- */

/* The attributes of a call: as many as an event may have. */
struct attributes {
	struct poolscope_attribute is[POOLSCOPE_ATTRIBUTES];
	PyObject *hold[POOLSCOPE_ATTRIBUTES];
	size_t count;
};

static void
release(struct attributes *attributes)
{
	for (size_t i = 0; i < attributes->count; i++)
		Py_XDECREF(attributes->hold[i]);
}

/* One more, unless there are as many; -1 with an exception, and all are
 * released. */
static int
add(struct attributes *to, PyObject *key, PyObject *value)
{
	struct poolscope_attribute *is = &to->is[to->count];
	int rc;

	if (to->count == POOLSCOPE_ATTRIBUTES)
		return 0;
	rc = native_value(value, is, &to->hold[to->count]);
	if (rc == 0)
		return 0;
	to->count++;
	is->key = rc > 0 ? PyUnicode_AsUTF8AndSize(key, NULL) : NULL;
	if (is->key != NULL)
		return 0;
	release(to);
	return -1;
}

static int
take(struct attributes *to, PyObject *const *values, PyObject *names)
{
	Py_ssize_t given = names != NULL ? PyTuple_Size(names) : 0;

	to->count = 0;
	for (Py_ssize_t i = 0; i < given; i++)
		if (add(to, PyTuple_GetItem(names, i), values[i]) != 0)
			return -1;
	return 0;
}

static PyObject *
native_event(
    PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
	PyObject *source, *name, *of, *result = NULL;
	const struct poolscope_span *span;
	const char *texts[2];
	struct attributes attributes;

	if (count != 2 || !PyUnicode_Check(args[0]) ||
	    !PyUnicode_Check(args[1])) {
		PyErr_SetString(
		    PyExc_TypeError, "event(source, name, /, **attributes)");
		return NULL;
	}
	if (native_state == NATIVE_DISABLED)
		Py_RETURN_NONE;
	native_ready(PyModule_GetState(self));
	if (take(&attributes, args + count, names) != 0)
		return NULL;
	Py_INCREF(source = args[0]);
	Py_INCREF(name = args[1]);
	texts[0] = native_utf8(&source);
	texts[1] = native_utf8(&name);
	of = native_task_span(PyModule_GetState(self), &span);
	if (texts[0] != NULL && texts[1] != NULL) {
		if (of != NULL)
			poolscope_event_of(span, texts[0], texts[1],
			    attributes.is, attributes.count);
		else
			poolscope_event(texts[0], texts[1], attributes.is,
			    attributes.count);
		Py_INCREF(result = Py_None);
	}
	Py_XDECREF(of);
	release(&attributes);
	Py_DECREF(source);
	Py_DECREF(name);
	return result;
}

/* The argument `track`, which is no attribute, as text; the rest are. */
static int
take_past(struct attributes *to, PyObject *const *values, PyObject *names,
    const char **track)
{
	Py_ssize_t given = names != NULL ? PyTuple_Size(names) : 0;

	*track = NULL;
	to->count = 0;
	for (Py_ssize_t i = 0; i < given; i++) {
		PyObject *name = PyTuple_GetItem(names, i);

		if (PyUnicode_CompareWithASCIIString(name, "track") != 0) {
			if (add(to, name, values[i]) != 0)
				return -1;
			continue;
		}
		*track = values[i] != Py_None
			     ? PyUnicode_AsUTF8AndSize(values[i], NULL)
			     : NULL;
		if (PyErr_Occurred()) {
			release(to);
			return -1;
		}
	}
	return 0;
}

static PyObject *
native_past(
    PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
	const char *name, *category, *track;
	struct attributes attributes;
	long long begin_ns, end_ns;

	if (count < 3 || count > 4) {
		PyErr_SetString(PyExc_TypeError,
		    "past(begin_ns, end_ns, name, category=None, /, *, "
		    "track=None, **attributes)");
		return NULL;
	}
	begin_ns = PyLong_AsLongLong(args[0]);
	end_ns = PyLong_AsLongLong(args[1]);
	if (PyErr_Occurred())
		return NULL;
	name = PyUnicode_AsUTF8AndSize(args[2], NULL);
	category = count > 3 && args[3] != Py_None
		       ? PyUnicode_AsUTF8AndSize(args[3], NULL)
		       : NULL;
	if (PyErr_Occurred())
		return NULL;
	if (native_state == NATIVE_DISABLED)
		Py_RETURN_NONE;
	native_ready(PyModule_GetState(self));
	if (take_past(&attributes, args + count, names, &track) != 0)
		return NULL;
	poolscope_past(track, name, category, begin_ns, end_ns, attributes.is,
	    attributes.count);
	release(&attributes);
	Py_RETURN_NONE;
}

/* ---- samples ---- */

struct sample {
	struct poolscope_number number[POOLSCOPE_NUMBERS];
	size_t count;
	struct attributes labels;
	/* Arguments, or NULL. */
	PyObject *label, *unit, *counter;
};

/* A dict, or NULL for None. */
static int
optional_dict(PyObject *given, PyObject **to, const char *what)
{
	*to = given == Py_None ? NULL : given;
	if (*to == NULL || PyDict_Check(given))
		return 0;
	PyErr_Format(PyExc_TypeError, "%s must be a dict", what);
	return -1;
}

/* 1: the argument is none of the numbers; 0: it is; -1: an exception. */
static int
take_option(struct sample *sample, PyObject *name, PyObject *value)
{
	if (PyUnicode_CompareWithASCIIString(name, "labels") == 0)
		return optional_dict(value, &sample->label, "labels") == 0 ? 1
									   : -1;
	if (PyUnicode_CompareWithASCIIString(name, "units") == 0)
		return optional_dict(value, &sample->unit, "units") == 0 ? 1
									 : -1;
	if (PyUnicode_CompareWithASCIIString(name, "counters") == 0) {
		sample->counter = value;
		return 1;
	}
	return 0;
}

static int
take_number(struct sample *sample, PyObject *name, PyObject *value)
{
	struct poolscope_number *to = &sample->number[sample->count];
	PyObject *unit = sample->unit != NULL
			     ? PyDict_GetItemWithError(sample->unit, name)
			     : NULL;
	int counter = sample->counter != NULL
			  ? PySequence_Contains(sample->counter, name)
			  : 0;

	if (value == Py_None)
		return 0;
	to->value = PyFloat_AsDouble(value);
	if ((to->value == -1 && PyErr_Occurred()) || counter < 0)
		return -1;
	to->name = PyUnicode_AsUTF8AndSize(name, NULL);
	to->unit = unit != NULL && unit != Py_None
		       ? PyUnicode_AsUTF8AndSize(unit, NULL)
		       : NULL;
	to->counter = counter;
	sample->count++;
	return PyErr_Occurred() ? -1 : 0;
}

static int
take_labels(struct sample *sample)
{
	PyObject *key, *value;
	Py_ssize_t at = 0;

	sample->labels.count = 0;
	while (sample->label != NULL &&
	       PyDict_Next(sample->label, &at, &key, &value))
		if (add(&sample->labels, key, value) != 0)
			return -1;
	return 0;
}

/* The options first: the numbers need them. */
static int
take_sample(struct sample *sample, PyObject *const *values, PyObject *names)
{
	Py_ssize_t given = names != NULL ? PyTuple_Size(names) : 0;
	uint64_t rest[(POOLSCOPE_NUMBERS + 3 + 63) / 64] = { 0 };

	sample->count = 0;
	sample->label = sample->unit = sample->counter = NULL;
	if (given > POOLSCOPE_NUMBERS + 3)
		given = POOLSCOPE_NUMBERS + 3;
	for (Py_ssize_t i = 0; i < given; i++) {
		int rc =
		    take_option(sample, PyTuple_GetItem(names, i), values[i]);

		if (rc < 0)
			return -1;
		if (rc == 0)
			rest[i / 64] |= UINT64_C(1) << i % 64;
	}
	for (Py_ssize_t i = 0; i < given && sample->count < POOLSCOPE_NUMBERS;
	     i++)
		if (rest[i / 64] >> i % 64 & 1 &&
		    take_number(sample, PyTuple_GetItem(names, i), values[i]) !=
			0)
			return -1;
	return take_labels(sample);
}

static PyObject *
native_sample(
    PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
	struct sample sample;

	if (count != 0) {
		PyErr_SetString(PyExc_TypeError,
		    "sample(*, labels=None, units=None, counters=(), "
		    "**numbers)");
		return NULL;
	}
	if (native_state == NATIVE_DISABLED)
		Py_RETURN_NONE;
	native_ready(PyModule_GetState(self));
	if (take_sample(&sample, args, names) != 0)
		return NULL;
	poolscope_sample(
	    sample.number, sample.count, sample.labels.is, sample.labels.count);
	release(&sample.labels);
	Py_RETURN_NONE;
}

static PyObject *
native_traceparent(PyObject *self, PyObject *none)
{
	struct native *native = PyModule_GetState(self);
	char text[POOLSCOPE_TRACEPARENT_BYTES] = "";
	const struct poolscope_span *span;
	PyObject *of = NULL;

	(void)none;
	if (native_state != NATIVE_DISABLED) {
		native_ready(native);
		of = native_task_span(native, &span);
	}
	if (of != NULL)
		poolscope_traceparent_of(span, text);
	if (text[0] == '\0')
		poolscope_traceparent(text);
	Py_XDECREF(of);
	return PyUnicode_FromString(text);
}

/* ---- counters ---- */

static PyObject *
native_counter(PyObject *self, PyObject *args)
{
	struct native *native = PyModule_GetState(self);
	const char *name, *unit = NULL;
	struct counter *counter;

	if (!PyArg_ParseTuple(args, "s|z", &name, &unit))
		return NULL;
	counter = PyObject_New(struct counter, native->counter);
	if (counter != NULL)
		counter->is = native_state == NATIVE_DISABLED
				  ? NULL
				  : poolscope_get_counter(name, unit);
	if (native_state != NATIVE_DISABLED)
		native_ready(native);
	return (PyObject *)counter;
}

static PyObject *
change(PyObject *self, PyObject *value,
    void (*by)(struct poolscope_counter *, double))
{
	double number = PyFloat_AsDouble(value);

	if (number == -1 && PyErr_Occurred())
		return NULL;
	by(((struct counter *)self)->is, number);
	Py_RETURN_NONE;
}

static PyObject *
counter_add(PyObject *self, PyObject *value)
{
	return change(self, value, poolscope_add);
}

static PyObject *
counter_set(PyObject *self, PyObject *value)
{
	return change(self, value, poolscope_put);
}

static void
counter_dealloc(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	PyObject_Free(self);
	Py_DECREF(type);
}

static PyMethodDef counter_methods[] = {
	{ "add", counter_add, METH_O, "add(number)" },
	{ "set", counter_set, METH_O, "set(number)" },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot counter_slots[] = {
	{ Py_tp_doc, (void *)(uintptr_t) "a number that is published when it "
					 "has changed" },
	{ Py_tp_dealloc, (void *)counter_dealloc },
	{ Py_tp_methods, counter_methods },
	{ 0, NULL },
};

static PyType_Spec counter_spec = {
	.name = "poolscope.Counter",
	.basicsize = sizeof(struct counter),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.slots = counter_slots,
};

/* ---- the module ---- */

/* What __init__.py does for us. */
static PyObject *
native_init(PyObject *self, PyObject *args)
{
	struct native *native = PyModule_GetState(self);
	int disabled;

	if (!PyArg_ParseTuple(args, "OOOOOp", &native->wrap, &native->start,
		&native->thread_name, &native->get_span, &native->set_span,
		&disabled))
		return NULL;
	Py_INCREF(native->wrap);
	Py_INCREF(native->start);
	Py_INCREF(native->thread_name);
	Py_INCREF(native->get_span);
	Py_INCREF(native->set_span);
	native->imported = PyImport_GetModuleDict();
	Py_INCREF(native->imported);
	native->asyncio_events = PyUnicode_InternFromString("asyncio.events");
	native->asyncio_tasks = PyUnicode_InternFromString("asyncio.tasks");
	native->greenlet = PyUnicode_InternFromString("greenlet");
	if (native->asyncio_events == NULL || native->asyncio_tasks == NULL ||
	    native->greenlet == NULL)
		return NULL;
	if (disabled)
		native_state = NATIVE_DISABLED;
	Py_RETURN_NONE;
}

#define KEYWORDS METH_FASTCALL | METH_KEYWORDS
static PyMethodDef methods[] = {
	{ "span", (PyCFunction)(void (*)(void))native_span, KEYWORDS,
	    "span(name, category=None, /, *, under=None, **attributes)" },
	{ "event", (PyCFunction)(void (*)(void))native_event, KEYWORDS,
	    "event(source, name, /, **attributes)" },
	{ "sample", (PyCFunction)(void (*)(void))native_sample, KEYWORDS,
	    "sample(*, labels=None, units=None, counters=(), **numbers)" },
	{ "past", (PyCFunction)(void (*)(void))native_past, KEYWORDS,
	    "past(begin_ns, end_ns, name, category=None, /, *, track=None, "
	    "**attributes)" },
	{ "counter", native_counter, METH_VARARGS, "counter(name, unit=None)" },
	{ "traceparent", native_traceparent, METH_NOARGS,
	    "traceparent(): the context to pass on" },
	{ "flush", native_flush, METH_VARARGS,
	    "flush(seconds=10.0): is everything on disk in the agent's "
	    "spool?" },
	{ "stats", native_stats, METH_NOARGS, "stats(): what was counted" },
	{ "open", native_open, METH_VARARGS, NULL },
	{ "close", native_close, METH_NOARGS, "close(): send the rest" },
	{ "is_child", native_is_child, METH_NOARGS, NULL },
	{ "init", native_init, METH_VARARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static int
execute(PyObject *self)
{
	struct native *native = PyModule_GetState(self);

	native->span = (PyTypeObject *)PyType_FromModuleAndSpec(
	    self, &native_span_spec, NULL);
	native->counter =
	    (PyTypeObject *)PyType_FromModuleAndSpec(self, &counter_spec, NULL);
	if (native->span == NULL || native->counter == NULL)
		return -1;
	native->nothing = native_no_span(native);
	if (native->nothing == NULL ||
	    PyModule_AddType(self, native->span) != 0 ||
	    PyModule_AddType(self, native->counter) != 0)
		return -1;
	return 0;
}

static PyModuleDef_Slot slots[] = {
	{ Py_mod_exec, (void *)execute },
	{ 0, NULL },
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "poolscope._native",
	.m_size = sizeof(struct native),
	.m_methods = methods,
	.m_slots = slots,
};

PyMODINIT_FUNC
PyInit__native(void)
{
	return PyModuleDef_Init(&definition);
}
