/*
 * progress - a progress line on a terminal.
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/text.h"

enum { NAME_COLUMNS = 24, BAR_COLUMNS = 25 };

bool
progress_is_wanted(void)
{
	const char *terminal = getenv("TERM");

	return isatty(STDERR_FILENO) &&
	       (terminal == NULL || strcmp(terminal, "dumb") != 0);
}

/* The end of a long path is more informative than its beginning. */
static void
short_name(char to[static NAME_COLUMNS + 1], const char *name)
{
	char quoted[4096];
	size_t bytes;

	text_quote(quoted, sizeof(quoted), text_of(name));
	for (char *c = quoted; *c != '\0'; c++)
		if ((unsigned char)*c > '~')
			*c = '?'; /* one column each */
	bytes = strlen(quoted);
	if (bytes <= NAME_COLUMNS)
		strcpy(to, quoted);
	else
		snprintf(to, NAME_COLUMNS + 1, "..%s",
		    quoted + bytes - (NAME_COLUMNS - 2));
}

void
progress_text(char to[static 4 * PROGRESS_COLUMNS], const char *name,
    const struct progress *p)
{
	char brief[NAME_COLUMNS + 1], bar[BAR_COLUMNS + 1];
	double part = p->total > 0 ? (double)p->done / (double)p->total : 1;
	double seconds = (double)(p->now_ns - p->began_ns) / 1e9;
	double rate = seconds > 0 ? (double)p->rows / seconds : 0;
	const char *unit = p->unit != NULL ? p->unit : "rows";
	int full;

	if (part > 1)
		part = 1;
	full = (int)(part * BAR_COLUMNS);
	memset(bar, '#', (size_t)full);
	memset(bar + full, '.', (size_t)(BAR_COLUMNS - full));
	bar[BAR_COLUMNS] = '\0';
	short_name(brief, name);
	if (p->unit != NULL && p->total == 0)
		snprintf(to, PROGRESS_COLUMNS, "%s  %.0f %s  %.0f %s/s", brief,
		    (double)p->rows, unit, rate, unit);
	else
		snprintf(to, PROGRESS_COLUMNS, "%s [%s] %3d %%  %.0f %s/s",
		    brief, bar, (int)(part * 100), rate, unit);
}

void
progress_show(const char *name, const struct progress *progress)
{
	char text[4 * PROGRESS_COLUMNS];

	progress_text(text, name, progress);
	fprintf(stderr, "\r%s\033[K", text);
	fflush(stderr);
}

void
progress_clear(void)
{
	fprintf(stderr, "\r\033[K");
	fflush(stderr);
}
