/*
 * err - one sentence that says what went wrong, and a code for callers.
 *
 * A struct err lives on the caller's stack and is passed down as the last
 * parameter.  Modules fill it and return -1; only programs print it.  The
 * sentence is for people: a caller that must tell errors apart compares the
 * code, never the text.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_BASE_ERR_H
#define PROTO_BASE_ERR_H

#include <stdarg.h>

enum { ERR_BYTES = 512 };

enum err_code {
	ERR_NONE,   /* no error */
	ERR_FAILED, /* callers need no more than the sentence */
	ERR_OPTION, /* the value of err.option is wrong */
	ERR_CONFIG, /* the same; the value is from FILE:LINE in the sentence */
	ERR_INTERRUPTED, /* SIGINT or SIGTERM ended the work */
	ERR_FOUND,       /* the work is done, and what it found is bad */
};

struct err {
	char text[ERR_BYTES]; /* NUL-terminated; "" without an error */
	enum err_code code;
	const char *option; /* a literal, without dashes; else NULL */
};

/* Write the sentence (cut at ERR_BYTES - 1) and return -1, so that a failing
 * function can end with `return err_set(err, ...)`.  `err` may be NULL. */
int err_set(struct err *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Also set the code; err_set sets ERR_FAILED. */
int err_set_code(struct err *err, enum err_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The value of an option is wrong: set ERR_OPTION and "--OPTION FORMAT". */
int err_set_option(struct err *err, const char *option, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The present sentence is about an option: set ERR_OPTION, and put "--OPTION:
 * " in front of it. */
int err_prefix_option(struct err *err, const char *option);

/* Put "context: " in front of the present sentence and leave the code
 * unchanged; returns -1. */
int err_prefix(struct err *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* With which status a program ends (poolscope(7)): of wrong usage; having done
 * its work and found something bad. */
enum { STATUS_USAGE = 2, STATUS_FOUND = 3, STATUS_UNDECIDED = 4 };
/* The status because of the error: STATUS_FOUND for ERR_FOUND, else 1. */
int err_status(const struct err *err);

/* Clear the error. */
void err_clear(struct err *err);

/* When the program exits with 0 and standard output could not be written, it
 * says so and exits with 1. */
void err_check_output(const char *program);

#endif
