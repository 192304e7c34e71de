/*
 * err - one sentence that says what went wrong.
 *
 * A struct err lives on the caller's stack and is passed down as the last
 * parameter.  Modules fill it and return -1; only programs print it.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_BASE_ERR_H
#define PROTO_BASE_ERR_H

#include <stdarg.h>

enum { ERR_BYTES = 512 };

struct err {
	char text[ERR_BYTES]; /* NUL-terminated; "" while nothing is wrong */
};

/* Write the sentence (cut at ERR_BYTES - 1) and return -1, so that a failing
 * function can end with `return err_set(err, ...)`.  `err` may be NULL. */
int err_set(struct err *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Put "context: " in front of the sentence that is there; returns -1. */
int err_prefix(struct err *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
