/*
 * native_value - texts and values of Python for the library.
 * SPDX-License-Identifier: MIT
 */
#include "agents/python/native.h"

/* What `*text` says in UTF-8: a str is replaced by bytes when it has no such
 * form.  NULL with an exception. */
const char *
native_utf8(PyObject **text)
{
	const char *utf8;
	PyObject *bytes;

	if (PyUnicode_Check(*text)) {
		utf8 = PyUnicode_AsUTF8AndSize(*text, NULL);
		if (utf8 != NULL)
			return utf8;
		PyErr_Clear();
		bytes = PyUnicode_AsEncodedString(*text, "utf-8", "replace");
		if (bytes == NULL)
			return NULL;
		Py_DECREF(*text);
		*text = bytes;
	}
	if (PyBytes_Check(*text))
		return PyBytes_AsString(*text);
	PyErr_SetString(PyExc_TypeError, "a name or a key is a str");
	return NULL;
}

/* An int beyond 64 bits is a float. */
static int
int_from(PyObject *value, struct poolscope_attribute *to)
{
	int overflow;

	to->type = POOLSCOPE_INT;
	to->is.i = PyLong_AsLongLongAndOverflow(value, &overflow);
	if (overflow != 0) {
		to->type = POOLSCOPE_FLOAT;
		to->is.f = PyLong_AsDouble(value);
		if (to->is.f == -1 && PyErr_Occurred()) {
			PyErr_Clear();
			to->is.f = overflow > 0 ? Py_HUGE_VAL : -Py_HUGE_VAL;
		}
	}
	return 1;
}

/* An exception says that a value has no such form; one that is no error, such
 * as that of a signal, is not ours: -1. */
static int
has_no_such_form(void)
{
	if (!PyErr_ExceptionMatches(PyExc_Exception))
		return -1;
	PyErr_Clear();
	return 0;
}

/* Numbers of other libraries are numbers, everything else is its text, which
 * `*hold` keeps alive.  An array has every method and refuses at the call. */
static int
other_from(PyObject *value, struct poolscope_attribute *to, PyObject **hold)
{
	if (PyIndex_Check(value)) {
		*hold = PyNumber_Index(value);
		if (*hold != NULL)
			return int_from(*hold, to);
		if (has_no_such_form() != 0)
			return -1;
	}
	if (PyType_GetSlot(Py_TYPE(value), Py_nb_float) != NULL) {
		*hold = PyNumber_Float(value);
		if (*hold != NULL) {
			to->type = POOLSCOPE_FLOAT;
			to->is.f = PyFloat_AsDouble(*hold);
			return 1;
		}
		if (has_no_such_form() != 0)
			return -1;
	}
	*hold = PyObject_Str(value);
	if (*hold == NULL)
		return -1;
	to->type = POOLSCOPE_TEXT;
	to->is.text = native_utf8(hold);
	return to->is.text != NULL ? 1 : -1;
}

/* 1: `*to` is the attribute; 0: the value is None; -1: an exception.  `*hold`
 * is NULL or to be released after the use of `*to`. */
int
native_value(PyObject *value, struct poolscope_attribute *to, PyObject **hold)
{
	*hold = NULL;
	if (value == Py_None)
		return 0;
	if (value == Py_True || value == Py_False) {
		to->type = POOLSCOPE_BOOL;
		to->is.boolean = value == Py_True;
		return 1;
	}
	if (PyLong_Check(value))
		return int_from(value, to);
	if (PyFloat_Check(value)) {
		to->type = POOLSCOPE_FLOAT;
		to->is.f = PyFloat_AsDouble(value);
		return 1;
	}
	if (PyUnicode_Check(value)) {
		Py_INCREF(value);
		*hold = value;
		to->type = POOLSCOPE_TEXT;
		to->is.text = native_utf8(hold);
		return to->is.text != NULL ? 1 : -1;
	}
	return other_from(value, to, hold);
}
