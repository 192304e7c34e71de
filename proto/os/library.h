/*
 * library - a shared library that is loaded when it is first needed: loading
 * dozens for a program that reads a local store would take longer than all the
 * rest.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_OS_LIBRARY_H
#define PROTO_OS_LIBRARY_H

#include <stdbool.h>

#include "proto/base/err.h"

struct library {
	const char *soname;
	const char *need;    /* what needs it, and its Debian package */
	const char *version; /* the first that has all functions */
	/* `pointer` is the address of one; a row without a name ends them. */
	const struct library_function {
		const char *name;
		void *pointer;
	} * functions;
	int (*begin)(void *handle, struct err *err); /* called once */
	bool is_loaded;
};

/* May be called any number of times, by any thread. */
int library_load(struct library *library, struct err *err);

#endif
