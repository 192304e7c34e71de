/*
 * import_lines - a file of which each line is a row.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/formats/lines.h"

#include <stdlib.h>

#include "proto/base/memory.h"

struct lines {
	struct import_files files; /* first: source.h */
	int (*parse)(struct import_row *row, struct text line, struct err *err);
};

static int
parse_line(void *arg, struct import_row *row, struct text line, struct err *err)
{
	const struct lines *lines = arg;

	return lines->parse(row, line, err);
}

static enum import_next
next_row(void *arg, struct import_row *row, struct err *err)
{
	struct lines *lines = arg;

	return import_files_next_row(
	    &lines->files, parse_line, lines, row, err);
}

static void
close_lines(void *arg)
{
	struct lines *lines = arg;

	import_files_close(&lines->files);
	free(lines);
}

int
import_lines_open(struct import_source *source, enum import_kind kind,
    int (*parse)(struct import_row *row, struct text line, struct err *err),
    const char *path, const struct import_format_options *options,
    struct err *err)
{
	struct lines *lines = memory_zero(1, sizeof(*lines));

	lines->parse = parse;
	if (import_files_open(&lines->files, path, options->name, err) != 0) {
		free(lines);
		return -1;
	}
	*source = import_files_source(&lines->files, kind);
	source->next = next_row;
	source->close = close_lines;
	return 0;
}
