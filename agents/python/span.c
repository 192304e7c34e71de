/*
 * native_span - spans: a Python object with the span of the library in it.
 *
 * Attributes that are given at once are put before it begins: a value's own
 * code then cannot meet a span that is half begun, nor leave one behind.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "agents/python/native.h"

struct span {
	PyObject ob_base;
	PyObject *name, *category, *under; /* str or bytes, or NULL */
	struct native *native;
	/* Of the attributes that were given at once. */
	uint16_t given_bytes, given_cut;
	uint8_t given;
	bool in_context;
	struct native_turn turn;
	struct poolscope_span is;
};

static int
set_attribute(struct span *span, PyObject *key, PyObject *value)
{
	struct poolscope_attribute attribute;
	PyObject *hold;
	int rc = native_value(value, &attribute, &hold);

	if (rc > 0) {
		Py_INCREF(key);
		attribute.key = native_utf8(&key);
		if (attribute.key != NULL)
			poolscope_set(&span->is, attribute);
		else
			rc = -1;
		Py_DECREF(key);
	}
	Py_XDECREF(hold);
	return rc < 0 ? -1 : 0;
}

static struct span *
new_span(
    struct native *native, PyObject *name, PyObject *category, PyObject *under)
{
	struct span *span = PyObject_New(struct span, native->span);

	if (span == NULL)
		return NULL;
	Py_XINCREF(name);
	Py_XINCREF(category);
	Py_XINCREF(under);
	span->name = name;
	span->category = category;
	span->under = under;
	span->native = native;
	span->given_bytes = span->given = span->given_cut = 0;
	span->in_context = false;
	span->turn.outer = NULL;
	span->turn.context[0] = '\0';
	span->is.life = span->is.bytes = span->is.count = span->is.cut = 0;
	return span;
}

/* NULL for None, else the argument if it is a text. */
static int
optional_text(PyObject *given, PyObject **to, const char *what)
{
	*to = NULL;
	if (given == NULL || given == Py_None)
		return 0;
	if (!PyUnicode_Check(given)) {
		PyErr_Format(PyExc_TypeError, "%s must be a str", what);
		return -1;
	}
	*to = given;
	return 0;
}

/* The keyword arguments: attributes, and `under`.  What is no text is no
 * context. */
static int
take_keywords(struct span *span, PyObject *const *values, PyObject *names)
{
	Py_ssize_t count = names != NULL ? PyTuple_Size(names) : 0;
	int rc = 0;

	span->is.life = 1; /* else it takes no attributes */
	for (Py_ssize_t i = 0; i < count && rc == 0; i++) {
		PyObject *name = PyTuple_GetItem(names, i);

		if (PyUnicode_CompareWithASCIIString(name, "under") != 0) {
			rc = set_attribute(span, name, values[i]);
		} else if (PyUnicode_Check(values[i]) ||
			   PyBytes_Check(values[i])) {
			Py_INCREF(span->under = values[i]);
		} else if (values[i] != Py_None) {
			span->under = PyUnicode_FromString("");
			rc = span->under != NULL ? 0 : -1;
		}
	}
	span->is.life = 0;
	span->given_bytes = span->is.bytes;
	span->given = span->is.count;
	span->given_cut = span->is.cut;
	return rc;
}

PyObject *
native_span(
    PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
	struct native *native = PyModule_GetState(self);
	PyObject *category;
	struct span *span;

	if (native_state == NATIVE_DISABLED) {
		Py_INCREF(native->nothing);
		return native->nothing;
	}
	if (count < 1 || count > 2 || !PyUnicode_Check(args[0])) {
		PyErr_SetString(PyExc_TypeError,
		    "span(name, category=None, /, *, "
		    "under=None, **attributes)");
		return NULL;
	}
	if (optional_text(count > 1 ? args[1] : NULL, &category, "category") !=
	    0)
		return NULL;
	span = new_span(native, args[0], category, NULL);
	if (span != NULL && take_keywords(span, args + count, names) != 0)
		Py_CLEAR(span);
	return (PyObject *)span;
}

static int
begin(struct span *span)
{
	const char *name = native_utf8(&span->name), *category = NULL,
		   *under = NULL;
	enum native_place place;
	const void *task = NULL;

	if (name == NULL ||
	    (span->category != NULL &&
		(category = native_utf8(&span->category)) == NULL))
		return -1;
	if (span->under != NULL && (under = native_utf8(&span->under)) == NULL)
		return -1;
	place = native_place(span->native, &task);
	span->in_context = place != NATIVE_PLAIN;
	if (span->in_context)
		native_turn_begin(span->native, (PyObject *)span, &span->turn,
		    place, task, &span->is, name, category, under);
	else if (under == NULL)
		poolscope_begin(&span->is, name, category);
	else
		poolscope_begin_under(&span->is, name, category, under);
	span->is.bytes = span->given_bytes;
	span->is.count = span->given;
	span->is.cut = span->given_cut;
	return 0;
}

static void
end(struct span *span)
{
	poolscope_end(&span->is);
	if (span->in_context)
		native_turn_end(span->native, (PyObject *)span, &span->turn);
	span->in_context = false;
}

struct native_turn *
native_span_turn(struct native *native, PyObject *object)
{
	struct span *span = (struct span *)object;

	return Py_TYPE(object) == native->span && span->turn.context[0] != '\0'
		   ? &span->turn
		   : NULL;
}

PyObject *
native_context_span(struct native *native, const struct poolscope_span **span)
{
	const void *task;
	PyObject *current;

	if (native_place(native, &task) == NATIVE_PLAIN)
		return NULL;
	current = PyObject_CallNoArgs(native->get_span);
	if (current != NULL && Py_TYPE(current) == native->span) {
		*span = &((struct span *)current)->is;
		return current;
	}
	PyErr_Clear();
	Py_XDECREF(current);
	return NULL;
}

static PyObject *
span_enter(PyObject *self, PyObject *none)
{
	struct span *span = (struct span *)self;

	(void)none;
	if (native_state != NATIVE_DISABLED) {
		if (span->is.life != 0 || span->in_context) {
			PyErr_SetString(
			    PyExc_RuntimeError, "this span has begun");
			return NULL;
		}
		if (native_ready(span->native) != 0)
			return NULL;
		if (begin(span) != 0)
			return NULL;
	}
	Py_INCREF(self);
	return self;
}

/* The name of an exception's class. */
static void
set_error(struct span *span, PyObject *type)
{
	struct poolscope_attribute attribute = { .key = "error",
		.type = POOLSCOPE_TEXT };
	PyObject *name = PyObject_GetAttrString(type, "__name__");

	attribute.is.text =
	    name != NULL && PyUnicode_Check(name) ? native_utf8(&name) : NULL;
	if (attribute.is.text != NULL)
		poolscope_set(&span->is, attribute);
	PyErr_Clear();
	Py_XDECREF(name);
}

static PyObject *
span_exit(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
	struct span *span = (struct span *)self;

	if (count > 0 && args[0] != Py_None && span->is.life != 0)
		set_error(span, args[0]);
	end(span);
	Py_RETURN_FALSE;
}

static PyObject *
span_set(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
	if (count != 2) {
		PyErr_SetString(PyExc_TypeError, "set(key, value)");
		return NULL;
	}
	if (native_state != NATIVE_DISABLED &&
	    set_attribute((struct span *)self, args[0], args[1]) != 0)
		return NULL;
	Py_RETURN_NONE;
}

/* The same span once more, for the next call of a decorated function. */
static PyObject *
span_again(PyObject *self, PyObject *none)
{
	struct span *span = (struct span *)self, *again;

	(void)none;
	again = new_span(span->native, span->name, span->category, span->under);
	if (again == NULL)
		return NULL;
	memcpy(again->is.pairs, span->is.pairs, span->given_bytes);
	again->given_bytes = span->given_bytes;
	again->given = span->given;
	again->given_cut = span->given_cut;
	return (PyObject *)again;
}

static PyObject *
span_call(PyObject *self, PyObject *args, PyObject *names)
{
	struct span *span = (struct span *)self;
	PyObject *function;

	if (names != NULL && PyDict_Size(names) > 0) {
		PyErr_SetString(PyExc_TypeError, "a span decorates a function");
		return NULL;
	}
	if (!PyArg_ParseTuple(args, "O", &function))
		return NULL;
	if (native_state == NATIVE_DISABLED) {
		Py_INCREF(function);
		return function;
	}
	return PyObject_CallFunctionObjArgs(
	    span->native->wrap, self, function, NULL);
}

/* The spans of a task that never end are a list, which may be long: a loop, as
 * each one released the next one on the stack. */
static void
release_outer(struct span *span)
{
	PyObject *outer = span->turn.outer, *next;

	while (outer != NULL && Py_TYPE(outer) == span->native->span &&
	       Py_REFCNT(outer) == 1) {
		next = ((struct span *)outer)->turn.outer;
		((struct span *)outer)->turn.outer = NULL;
		Py_DECREF(outer);
		outer = next;
	}
	Py_XDECREF(outer);
}

static void
span_dealloc(PyObject *self)
{
	struct span *span = (struct span *)self;
	PyTypeObject *type = Py_TYPE(self);

	Py_XDECREF(span->name);
	Py_XDECREF(span->category);
	Py_XDECREF(span->under);
	release_outer(span);
	PyObject_Free(self);
	Py_DECREF(type);
}

static PyMethodDef span_methods[] = {
	{ "__enter__", span_enter, METH_NOARGS, "begin" },
	{ "__exit__", (PyCFunction)(void (*)(void))span_exit, METH_FASTCALL,
	    "end; an exception is the attribute error" },
	{ "set", (PyCFunction)(void (*)(void))span_set, METH_FASTCALL,
	    "set(key, value): an attribute" },
	{ "_again", span_again, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot span_slots[] = {
	{ Py_tp_doc, (void *)(uintptr_t) "a span: context manager, decorator" },
	{ Py_tp_dealloc, (void *)span_dealloc },
	{ Py_tp_call, (void *)span_call },
	{ Py_tp_methods, span_methods },
	{ 0, NULL },
};

PyType_Spec native_span_spec = {
	.name = "poolscope.Span",
	.basicsize = sizeof(struct span),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
	.slots = span_slots,
};

PyObject *
native_no_span(struct native *native)
{
	return (PyObject *)new_span(native, NULL, NULL, NULL);
}
