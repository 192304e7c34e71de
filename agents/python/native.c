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

/* The attributes of a call, all of them: the library counts those that it
 * omits. */
struct attributes {
	struct poolscope_attribute *is;
	PyObject **hold;
	size_t count;
	PyObject *kept; /* what else must live until the call ends, or NULL */
	struct poolscope_attribute few[POOLSCOPE_ATTRIBUTES];
	PyObject *few_hold[POOLSCOPE_ATTRIBUTES];
};

static void
begin(struct attributes *to)
{
	to->count = 0;
	to->kept = NULL;
	to->is = to->few;
	to->hold = to->few_hold;
}

/* Before the first one: room for `count`; -1 with an exception. */
static int
reserve(struct attributes *to, Py_ssize_t count)
{
	if (count <= POOLSCOPE_ATTRIBUTES)
		return 0;
	to->is = PyMem_Malloc((size_t)count * sizeof(*to->is));
	to->hold = PyMem_Malloc((size_t)count * sizeof(*to->hold));
	if (to->is != NULL && to->hold != NULL)
		return 0;
	PyErr_NoMemory();
	return -1;
}

static void
release(struct attributes *attributes)
{
	for (size_t i = 0; i < attributes->count; i++)
		Py_XDECREF(attributes->hold[i]);
	Py_XDECREF(attributes->kept);
	if (attributes->is != attributes->few)
		PyMem_Free(attributes->is);
	if (attributes->hold != attributes->few_hold)
		PyMem_Free(attributes->hold);
}

/* Takes `object`; -1 with an exception, also if that is NULL. */
static int
keep(struct attributes *to, PyObject *object)
{
	int rc = -1;

	if (object != NULL && to->kept == NULL)
		to->kept = PyList_New(0);
	if (object != NULL && to->kept != NULL)
		rc = PyList_Append(to->kept, object);
	Py_XDECREF(object);
	return rc;
}

/* As native_utf8; valid until the release. */
static const char *
utf8(struct attributes *to, PyObject *text)
{
	PyObject *form = text;
	const char *is;

	Py_INCREF(form);
	is = native_utf8(&form);
	if (form != text)
		return keep(to, form) == 0 ? is : NULL;
	Py_DECREF(form);
	return is;
}

/* One more; -1 with an exception. */
static int
add(struct attributes *to, PyObject *key, PyObject *value)
{
	struct poolscope_attribute *is = &to->is[to->count];
	int rc;

	rc = native_value(value, is, &to->hold[to->count]);
	if (rc == 0)
		return 0;
	to->count++;
	is->key = rc > 0 ? utf8(to, key) : NULL;
	return is->key != NULL ? 0 : -1;
}

/* All arguments but `track`, which may be NULL: that one as text, if it is
 * given. */
static int
take(struct attributes *to, PyObject *const *values, PyObject *names,
    const char **track)
{
	Py_ssize_t given = names != NULL ? PyTuple_Size(names) : 0;
	int rc;

	begin(to);
	rc = reserve(to, given);
	for (Py_ssize_t i = 0; i < given && rc == 0; i++) {
		PyObject *name = PyTuple_GetItem(names, i);

		if (track == NULL ||
		    PyUnicode_CompareWithASCIIString(name, "track") != 0)
			rc = add(to, name, values[i]);
		else if (values[i] != Py_None)
			rc = (*track = utf8(to, values[i])) != NULL ? 0 : -1;
	}
	return rc;
}

static PyObject *
native_event(
    PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
	PyObject *of, *result = NULL;
	const struct poolscope_span *span;
	const char *source, *name;
	struct attributes attributes;

	if (count != 2 || !PyUnicode_Check(args[0]) ||
	    !PyUnicode_Check(args[1])) {
		PyErr_SetString(
		    PyExc_TypeError, "event(source, name, /, **attributes)");
		return NULL;
	}
	if (native_state == NATIVE_DISABLED)
		Py_RETURN_NONE;
	if (native_ready(PyModule_GetState(self)) != 0)
		return NULL;
	if (take(&attributes, args + count, names, NULL) == 0 &&
	    (source = utf8(&attributes, args[0])) != NULL &&
	    (name = utf8(&attributes, args[1])) != NULL) {
		of = native_context_span(PyModule_GetState(self), &span);
		if (of != NULL)
			poolscope_event_of(span, source, name, attributes.is,
			    attributes.count);
		else
			poolscope_event(
			    source, name, attributes.is, attributes.count);
		Py_XDECREF(of);
		Py_INCREF(result = Py_None);
	}
	release(&attributes);
	return result;
}

static PyObject *
native_past(
    PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
	const char *name, *category = NULL, *track = NULL;
	char within[POOLSCOPE_TRACEPARENT_BYTES] = "";
	const struct poolscope_span *span;
	PyObject *of, *result = NULL;
	struct attributes attributes;
	long long begin_ns, end_ns;

	if (count < 3 || count > 4 || !PyUnicode_Check(args[2])) {
		PyErr_SetString(PyExc_TypeError,
		    "past(begin_ns, end_ns, name, category=None, /, *, "
		    "track=None, **attributes)");
		return NULL;
	}
	if (native_state == NATIVE_DISABLED)
		Py_RETURN_NONE;
	begin_ns = PyLong_AsLongLong(args[0]);
	if (begin_ns == -1 && PyErr_Occurred())
		return NULL;
	end_ns = PyLong_AsLongLong(args[1]);
	if (end_ns == -1 && PyErr_Occurred())
		return NULL;
	if (native_ready(PyModule_GetState(self)) != 0)
		return NULL;
	if (take(&attributes, args + count, names, &track) == 0 &&
	    (name = utf8(&attributes, args[2])) != NULL &&
	    (count == 3 || args[3] == Py_None ||
		(category = utf8(&attributes, args[3])) != NULL)) {
		of = native_context_span(PyModule_GetState(self), &span);
		if (of != NULL)
			poolscope_traceparent_of(span, within);
		if (within[0] != '\0' && track == NULL)
			track = span->track;
		poolscope_past(track, name, category,
		    within[0] != '\0' ? within : NULL, begin_ns, end_ns,
		    attributes.is, attributes.count);
		Py_XDECREF(of);
		Py_INCREF(result = Py_None);
	}
	release(&attributes);
	return result;
}

/* ---- samples ---- */

/* All of them, as of attributes. */
struct sample {
	struct poolscope_number *number;
	size_t count;
	struct poolscope_number few[POOLSCOPE_NUMBERS];
	struct attributes labels;
	/* Copies of arguments, and an argument, or NULL. */
	PyObject *label, *unit, *counter;
};

/* A copy, as a value's own code may change what was given; NULL for None. */
static int
take_dict(struct sample *sample, PyObject *given, PyObject **to)
{
	if (given == Py_None)
		return 0;
	*to =
	    PyObject_CallFunctionObjArgs((PyObject *)&PyDict_Type, given, NULL);
	return keep(&sample->labels, *to);
}

/* Where an argument that is no number belongs, else NULL. */
static PyObject **
option_of(struct sample *sample, PyObject *name)
{
	if (PyUnicode_CompareWithASCIIString(name, "labels") == 0)
		return &sample->label;
	if (PyUnicode_CompareWithASCIIString(name, "units") == 0)
		return &sample->unit;
	if (PyUnicode_CompareWithASCIIString(name, "counters") == 0)
		return &sample->counter;
	return NULL;
}

static int
take_number(struct sample *sample, PyObject *name, PyObject *value)
{
	struct poolscope_number *to = &sample->number[sample->count];
	PyObject *unit;

	if (value == Py_None)
		return 0;
	*to = (struct poolscope_number){ .name = utf8(&sample->labels, name) };
	if (to->name == NULL)
		return -1;
	to->value = PyFloat_AsDouble(value);
	if (to->value == -1 && PyErr_Occurred())
		return -1;
	if (sample->counter != NULL)
		to->counter = PySequence_Contains(sample->counter, name);
	if (to->counter < 0)
		return -1;
	unit = sample->unit != NULL
		   ? PyDict_GetItemWithError(sample->unit, name)
		   : NULL;
	if (unit != NULL && unit != Py_None)
		to->unit = utf8(&sample->labels, unit);
	sample->count++;
	return PyErr_Occurred() ? -1 : 0;
}

static int
take_labels(struct sample *sample)
{
	PyObject *key, *value;
	Py_ssize_t at = 0;

	if (sample->label == NULL)
		return 0;
	if (reserve(&sample->labels, PyDict_Size(sample->label)) != 0)
		return -1;
	while (PyDict_Next(sample->label, &at, &key, &value))
		if (add(&sample->labels, key, value) != 0)
			return -1;
	return 0;
}

/* The options first: the numbers need them. */
static int
take_sample(struct sample *sample, PyObject *const *values, PyObject *names)
{
	Py_ssize_t given = names != NULL ? PyTuple_Size(names) : 0;
	PyObject **option;
	int rc = 0;

	begin(&sample->labels);
	sample->count = 0;
	sample->number = sample->few;
	if (given > POOLSCOPE_NUMBERS)
		sample->number =
		    PyMem_Malloc((size_t)given * sizeof(*sample->number));
	if (sample->number == NULL) {
		PyErr_NoMemory();
		return -1;
	}
	sample->label = sample->unit = sample->counter = NULL;
	for (Py_ssize_t i = 0; i < given && rc == 0; i++) {
		option = option_of(sample, PyTuple_GetItem(names, i));
		if (option == &sample->counter)
			*option = values[i];
		else if (option != NULL)
			rc = take_dict(sample, values[i], option);
	}
	for (Py_ssize_t i = 0; i < given && rc == 0; i++)
		if (option_of(sample, PyTuple_GetItem(names, i)) == NULL)
			rc = take_number(
			    sample, PyTuple_GetItem(names, i), values[i]);
	return rc == 0 ? take_labels(sample) : -1;
}

static PyObject *
native_sample(
    PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
	struct sample sample;
	int rc;

	if (count != 0) {
		PyErr_SetString(PyExc_TypeError,
		    "sample(*, labels=None, units=None, counters=(), "
		    "**numbers)");
		return NULL;
	}
	if (native_state == NATIVE_DISABLED)
		Py_RETURN_NONE;
	if (native_ready(PyModule_GetState(self)) != 0)
		return NULL;
	rc = take_sample(&sample, args, names);
	if (rc == 0)
		poolscope_sample(sample.number, sample.count, sample.labels.is,
		    sample.labels.count);
	release(&sample.labels);
	if (sample.number != sample.few)
		PyMem_Free(sample.number);
	if (rc != 0)
		return NULL;
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
		if (native_ready(native) != 0)
			return NULL;
		of = native_context_span(native, &span);
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
	const char *name, *unit;
	struct counter *counter;
	int gauge;

	if (!PyArg_ParseTuple(args, "szp", &name, &unit, &gauge))
		return NULL;
	if (native_state != NATIVE_DISABLED && native_ready(native) != 0)
		return NULL;
	counter = PyObject_New(struct counter, native->counter);
	if (counter == NULL)
		return NULL;
	counter->is = NULL;
	if (native_state != NATIVE_DISABLED)
		counter->is = gauge ? poolscope_get_gauge(name, unit)
				    : poolscope_get_counter(name, unit);
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

/* What __init__.py does for us.  Is this the main interpreter of the process?
 */
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
	return PyBool_FromLong(
	    PyInterpreterState_GetID(PyInterpreterState_Get()) == 0);
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
	{ "counter", native_counter, METH_VARARGS, NULL },
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
