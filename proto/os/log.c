/*
 * log - one line on standard error.
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum { LINE_BYTES = 1024 };

static const char *const words[] = { "error", "warn", "info", "debug" };
static const char *name = "poolscope";
/* Other threads read it while a reload may change it. */
static _Atomic enum log_level threshold = LOG_INFO;

void
log_init(const char *program, enum log_level level)
{
	name = program;
	threshold = level;
}

/* One write(2) per line, so that lines of several processes do not mix. */
static void
put_line(char *line, int used)
{
	size_t end = used < 0 ? 0 : (size_t)used;
	ssize_t rc;

	if (end > LINE_BYTES - 2)
		end = LINE_BYTES - 2;
	for (size_t i = 0; i < end; i++)
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7F)
			line[i] = '?';
	line[end] = '\n';
	rc = write(STDERR_FILENO, line, end + 1);
	(void)rc; /* there is nowhere to report a failure */
}

void
log_write(enum log_level level, const char *format, ...)
{
	char line[LINE_BYTES];
	va_list args;
	int used, more;

	if (level > threshold)
		return;
	used = snprintf(line, sizeof(line), "%s %s: ", words[level], name);
	va_start(args, format);
	more =
	    vsnprintf(line + used, sizeof(line) - (size_t)used, format, args);
	va_end(args);
	put_line(line, used + (more < 0 ? 0 : more));
}

void
log_fail(const struct err *err)
{
	char line[LINE_BYTES];

	put_line(line, snprintf(line, sizeof(line), "%s: %s", name, err->text));
}
