/*
 * native_span - spans: a Python object with the span of the library in it.
 *
 * Attributes that are given at once are put when it begins.
 * SPDX-License-Identifier: MIT
 */
#include "agents/python/native.h"

struct span {
	PyObject ob_base;
	PyObject *name, *category, *under; /* str or bytes, or NULL */
	PyObject *keys, *values;           /* tuples, or NULL */
	struct native *native;
	bool in_task;
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

/* Takes `keys` and `values`. */
static struct span *
new_span(struct native *native, PyObject *name, PyObject *category,
    PyObject *under, PyObject *keys, PyObject *values)
{
	struct span *span = PyObject_New(struct span, native->span);

	if (span == NULL) {
		Py_XDECREF(keys);
		Py_XDECREF(values);
		return NULL;
	}
	Py_XINCREF(name);
	Py_XINCREF(category);
	Py_XINCREF(under);
	span->name = name;
	span->category = category;
	span->under = under;
	span->keys = keys;
	span->values = values;
	span->native = native;
	span->in_task = false;
	span->turn.outer = NULL;
	span->turn.context[0] = '\0';
	span->is.life = 0;
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

/* The keyword arguments as two tuples; `under` is none of them. */
static int
take_keywords(PyObject *const *values, PyObject *names, PyObject **keys,
    PyObject **values_to, PyObject **under)
{
	Py_ssize_t count = names != NULL ? PyTuple_Size(names) : 0, kept = 0;

	*keys = *values_to = *under = NULL;
	if (count == 0)
		return 0;
	*values_to = PyTuple_New(count);
	if (*values_to == NULL)
		return -1;
	for (Py_ssize_t i = 0; i < count; i++) {
		PyObject *value = values[i];

		if (PyUnicode_CompareWithASCIIString(
			PyTuple_GetItem(names, i), "under") == 0) {
			*under = value;
			value = Py_None; /* is left out */
		}
		Py_INCREF(value);
		PyTuple_SetItem(*values_to, kept++, value);
	}
	Py_INCREF(names);
	*keys = names;
	return 0;
}

PyObject *
native_span(
    PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names)
{
	struct native *native = PyModule_GetState(self);
	PyObject *category, *under, *keys, *values;

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
		0 ||
	    take_keywords(args + count, names, &keys, &values, &under) != 0)
		return NULL;
	if (under == Py_None)
		under = NULL;
	return (PyObject *)new_span(
	    native, args[0], category, under, keys, values);
}

/* Puts the attributes that were given at once, and forgets them. */
static int
put_given(struct span *span)
{
	Py_ssize_t count;
	int rc = 0;

	if (span->keys == NULL)
		return 0;
	count = PyTuple_Size(span->keys);
	for (Py_ssize_t i = 0; i < count && rc == 0; i++)
		rc = set_attribute(span, PyTuple_GetItem(span->keys, i),
		    PyTuple_GetItem(span->values, i));
	Py_CLEAR(span->keys);
	Py_CLEAR(span->values);
	return rc;
}

/* What is no text is no context. */
static const char *
under_of(struct span *span)
{
	const char *under = "";

	if (PyUnicode_Check(span->under) || PyBytes_Check(span->under))
		under = native_utf8(&span->under);
	PyErr_Clear();
	return under != NULL ? under : "";
}

static int
begin(struct span *span)
{
	const char *name = native_utf8(&span->name), *category = NULL,
		   *under = NULL;
	const void *task;

	if (name == NULL ||
	    (span->category != NULL &&
		(category = native_utf8(&span->category)) == NULL))
		return -1;
	if (span->under != NULL)
		under = under_of(span);
	span->in_task = native_in_task(span->native, &task);
	if (span->in_task)
		return native_turn_begin(span->native, (PyObject *)span,
		    &span->turn, task, &span->is, name, category, under);
	if (under == NULL)
		poolscope_begin(&span->is, name, category);
	else
		poolscope_begin_under(&span->is, name, category, under);
	return 0;
}

static void
end(struct span *span)
{
	poolscope_end(&span->is);
	if (span->in_task)
		native_turn_end(span->native, (PyObject *)span, &span->turn);
	span->in_task = false;
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
native_task_span(struct native *native, const struct poolscope_span **span)
{
	const void *task;
	PyObject *current;

	if (!native_in_task(native, &task))
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
		if (span->is.life != 0) {
			PyErr_SetString(
			    PyExc_RuntimeError, "this span has begun");
			return NULL;
		}
		native_ready(span->native);
		if (begin(span) != 0 || put_given(span) != 0)
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
	struct span *span = (struct span *)self;

	(void)none;
	Py_XINCREF(span->keys);
	Py_XINCREF(span->values);
	return (PyObject *)new_span(span->native, span->name, span->category,
	    span->under, span->keys, span->values);
}

static PyObject *
span_call(PyObject *self, PyObject *args, PyObject *names)
{
	struct span *span = (struct span *)self;
	PyObject *function;

	if (names != NULL || !PyArg_ParseTuple(args, "O", &function))
		return NULL;
	if (native_state == NATIVE_DISABLED) {
		Py_INCREF(function);
		return function;
	}
	return PyObject_CallFunctionObjArgs(
	    span->native->wrap, self, function, NULL);
}

static void
span_dealloc(PyObject *self)
{
	struct span *span = (struct span *)self;
	PyTypeObject *type = Py_TYPE(self);

	Py_XDECREF(span->name);
	Py_XDECREF(span->category);
	Py_XDECREF(span->under);
	Py_XDECREF(span->keys);
	Py_XDECREF(span->values);
	Py_XDECREF(span->turn.outer);
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
	return (PyObject *)new_span(native, NULL, NULL, NULL, NULL, NULL);
}
