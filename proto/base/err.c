/*
 * err - one sentence that says what went wrong.
 * SPDX-License-Identifier: MIT
 */
#include "proto/base/err.h"

#include <stdio.h>
#include <string.h>

int
err_set(struct err *err, const char *format, ...)
{
	va_list args;

	if (err == NULL)
		return -1;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	return -1;
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
