/*
 * progress - a progress line on a terminal.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_OS_PROGRESS_H
#define PROTO_OS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

enum { PROGRESS_COLUMNS = 80 };

struct progress {
	uint64_t total, done; /* in any unit; total 0: unknown, no bar */
	uint64_t rows;
	int64_t began_ns, now_ns; /* monotonic */
	const char *unit;         /* name of `rows`; NULL: "rows" */
};

/* Is standard error a terminal that can show such a line? */
bool progress_is_wanted(void);

/* `name [#####.....]  42 %  163005 rows/s`, at most 79 columns, without
 * control characters whatever the name holds. */
void progress_text(char to[static 4 * PROGRESS_COLUMNS], const char *name,
    const struct progress *progress);

void progress_show(const char *name, const struct progress *progress);
void progress_clear(void);

#endif
