/*
 * lines - the lines that a rig read, without what depends on the order of
 * arrival.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_AGGREGATOR_LINES_H
#define TESTS_UNIT_AGGREGATOR_LINES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/check.h"

/* Remove what depends on the order of arrival: the session, and the row. */
static inline char *
without_ids(char *lines)
{
	char *from = lines, *to = lines, *end;

	for (; *from != '\0'; from = end + 1) {
		char *id = strstr(from, " s"), *rest;

		end = strchr(from, '\n');
		rest = strchr(id + 1, ' ');
		memmove(to, from, (size_t)(id - from));
		to += id - from;
		memmove(to, rest, (size_t)(end + 1 - rest));
		to += end + 1 - rest;
	}
	*to = '\0';
	return lines;
}

static inline int
by_text(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Nodes get other numbers when they arrive in another order. */
static inline char *
sorted_lines(char *lines)
{
	char **line = malloc((strlen(lines) + 1) * sizeof(*line));
	char *copy = strdup(lines), *at = lines, *save = NULL, *one;
	size_t found = 0, i;

	assert_non_null(line);
	for (one = strtok_r(copy, "\n", &save); one != NULL;
	     one = strtok_r(NULL, "\n", &save))
		line[found++] = one;
	qsort(line, found, sizeof(*line), by_text);
	for (i = 0; i < found; i++)
		at += sprintf(at, "%s\n", line[i]);
	free(line);
	free(copy);
	return lines;
}

#endif
