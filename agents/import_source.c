/*
 * import_source - rows, one after another, as often as they are wanted.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import_source.h"

static enum import_next
next_row(void *arg, struct import_row *row, struct err *err)
{
	struct import_rows *rows = arg;
	enum import_next next;
	struct text line;

	if (rows->kind == IMPORT_PERF)
		return import_perf_next(&rows->perf, rows->file, row, err);
	do
		next = import_file_next(rows->file, &line, err);
	while (next == IMPORT_LINE && line.bytes == 0);
	if (next == IMPORT_TOO_LONG)
		err_set(err, "is longer than %d bytes", IMPORT_LINE_BYTES_MAX);
	if (next == IMPORT_LINE &&
	    import_row_parse(row, rows->kind, line, err) != 0)
		return IMPORT_TOO_LONG;
	return next;
}

static uint64_t
get_offset(const void *arg)
{
	const struct import_rows *rows = arg;

	return rows->file->offset;
}

static uint64_t
get_line(const void *arg)
{
	const struct import_rows *rows = arg;

	return rows->file->line;
}

static void
rewind_rows(void *arg)
{
	struct import_rows *rows = arg;

	rows->perf = (struct import_perf){ .nodes = 0 };
	import_file_rewind(rows->file);
}

struct import_source
import_rows_source(
    struct import_rows *rows, enum import_kind kind, struct import_file *file)
{
	*rows = (struct import_rows){ .kind = kind, .file = file };
	return (struct import_source){
		.kind = kind,
		.name = file->name,
		.bytes = file->bytes,
		.digest = file->digest,
		.next = next_row,
		.offset = get_offset,
		.line = get_line,
		.rewind = rewind_rows,
		.arg = rows,
	};
}
