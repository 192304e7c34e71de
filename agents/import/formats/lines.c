/*
 * import_lines - a file of which each line is a row.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/formats/lines.h"

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

int
import_lines_open(struct import_source *source, enum import_kind kind,
    int (*parse)(struct import_row *row, struct text line, struct err *err),
    const char *path, const struct import_format_options *options,
    struct err *err)
{
	if (import_files_new(source, sizeof(struct lines), kind, path,
		options->name, err) != 0)
		return -1;
	((struct lines *)source->arg)->parse = parse;
	source->next = next_row;
	return 0;
}
