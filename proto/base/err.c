/*
 * err - one sentence that says what went wrong, and a code for callers.
 * SPDX-License-Identifier: MIT
 */
#include "proto/base/err.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
set(struct err *err, enum err_code code, const char *format, va_list args)
{
	if (err == NULL)
		return;
	vsnprintf(err->text, sizeof(err->text), format, args);
	err->code = code;
	err->option = NULL;
}

int
err_set(struct err *err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set(err, ERR_FAILED, format, args);
	va_end(args);
	return -1;
}

int
err_set_code(struct err *err, enum err_code code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set(err, code, format, args);
	va_end(args);
	return -1;
}

int
err_set_option(struct err *err, const char *option, const char *format, ...)
{
	char what[ERR_BYTES];
	va_list args;

	if (err == NULL)
		return -1;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	err_set_code(
	    err, ERR_OPTION, "--%s %.*s", option, ERR_BYTES - 64, what);
	err->option = option;
	return -1;
}

int
err_prefix_option(struct err *err, const char *option)
{
	err_prefix(err, "--%s", option);
	if (err != NULL) {
		err->code = ERR_OPTION;
		err->option = option;
	}
	return -1;
}

int
err_status(const struct err *err)
{
	return err->code == ERR_FOUND ? STATUS_FOUND : 1;
}

int
err_prefix(struct err *err, const char *format, ...)
{
	char old[ERR_BYTES];
	size_t used;
	va_list args;
	int n;

	if (err == NULL)
		return -1;
	memcpy(old, err->text, sizeof(old) - 1);
	old[sizeof(old) - 1] = '\0';
	va_start(args, format);
	n = vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	used = n < 0 ? 0 : (size_t)n;
	if (used >= sizeof(err->text))
		used = sizeof(err->text) - 1;
	snprintf(err->text + used, sizeof(err->text) - used, ": %.*s",
	    (int)(sizeof(err->text) - used), old);
	return -1;
}

void
err_clear(struct err *err)
{
	*err = (struct err){ .code = ERR_NONE };
}

/* ---- output ---- */

static void
check_output(int status, void *program)
{
	const char *name = program;
	int failed = ferror(stdout);

	errno = 0;
	if (fflush(stdout) == 0 && !failed)
		return;
	if (status != 0)
		return;
	if (errno != EPIPE) /* whoever reads has enough */
		fprintf(stderr, "%s: standard output: %s\n", name,
		    errno == 0 ? "it could not be written" : strerror(errno));
	_exit(EXIT_FAILURE);
}

void
err_check_output(const char *program)
{
	union {
		const char *from;
		void *to;
	} name = { .from = program };

	on_exit(check_output, name.to);
}
