/*
 * log - one line on standard error.
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/log.h"

#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "proto/base/text.h"
#include "proto/os/clock.h"

enum { LINE_BYTES = 1024 };

#define INTERVAL_NS (60 * NS_PER_SECOND)

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

static bool puts_times;

/* systemd names the journal's stream; a program's standard error may have been
 * redirected since. */
static bool
is_journal(const struct stat *stat)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;

	return stream != NULL &&
	       sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       device == stat->st_dev && inode == stat->st_ino;
}

void
log_put_times(void)
{
	struct stat stat;

	tzset();
	puts_times = fstat(STDERR_FILENO, &stat) == 0 && !is_journal(&stat) &&
		     (S_ISREG(stat.st_mode) || isatty(STDERR_FILENO));
}

/* "2026-11-25T23:02:53.042+00:00 "; returns its length. */
static int
put_time(char *to, size_t room)
{
	char date[32], zone[8];
	struct timespec now;
	struct tm local;

	if (!puts_times || clock_gettime(CLOCK_REALTIME, &now) != 0 ||
	    localtime_r(&now.tv_sec, &local) == NULL ||
	    strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &local) == 0 ||
	    strftime(zone, sizeof(zone), "%z", &local) != 5)
		return 0;
	return snprintf(to, room, "%s.%03ld%.3s:%.2s ", date,
	    now.tv_nsec / 1000000, zone, zone + 3);
}

/* One write(2) per line, so that lines of several processes do not mix. */
static void
put_line(char *line, int used)
{
	size_t end = used < 0 ? 0 : (size_t)used;
	ssize_t rc;

	if (end > LINE_BYTES - 2)
		end = LINE_BYTES - 2;
	end = text_make_shown(line, end, false);
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
	used = put_time(line, sizeof(line));
	used += snprintf(line + used, sizeof(line) - (size_t)used,
	    "%s %s: ", words[level], name);
	va_start(args, format);
	more =
	    vsnprintf(line + used, sizeof(line) - (size_t)used, format, args);
	va_end(args);
	put_line(line, used + (more < 0 ? 0 : more));
}

bool
log_is_due(int64_t *last_ns)
{
	int64_t now_ns = clock_monotonic_ns();

	if (*last_ns != 0 && now_ns - *last_ns < INTERVAL_NS)
		return false;
	*last_ns = now_ns;
	return true;
}

int
log_fail(const struct err *err)
{
	char line[LINE_BYTES];

	put_line(line, snprintf(line, sizeof(line), "%s: %s", name, err->text));
	return err->code == ERR_INTERRUPTED ? 128 + SIGINT : EXIT_FAILURE;
}
