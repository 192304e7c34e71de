/*
 * import_source - rows that can be read repeatedly.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/source.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Covers the whole content of the directory, and the node of its rows. */
static void
make_digest(struct import_rows *rows)
{
	crypto_generichash_state state;

	crypto_generichash_init(&state, NULL, 0, sizeof(rows->digest));
	for (uint32_t i = 0; i < IMPORT_TESTRUN_FILES; i++) {
		unsigned char there = rows->is_open[i];

		crypto_generichash_update(&state, &there, sizeof(there));
		if (there)
			crypto_generichash_update(&state, rows->file[i].digest,
			    sizeof(rows->file[i].digest));
	}
	crypto_generichash_update(
	    &state, (const unsigned char *)rows->node.at, rows->node.bytes);
	crypto_generichash_final(&state, rows->digest, sizeof(rows->digest));
}

/* Each file of a directory may be missing, but not all. */
static int
open_directory(struct import_rows *rows, struct err *err)
{
	bool any = false;
	struct stat there;

	if (stat(rows->name, &there) != 0)
		return err_set(err, "%s: %s", rows->name, strerror(errno));
	if (!S_ISDIR(there.st_mode))
		return err_set(err, "%s: %s", rows->name, strerror(ENOTDIR));
	for (uint32_t i = 0; i < IMPORT_TESTRUN_FILES; i++) {
		if ((size_t)snprintf(rows->path[i], sizeof(rows->path[i]),
			"%s/%s", rows->name,
			import_testrun_names[i]) >= sizeof(rows->path[i]))
			return err_set(err,
			    "%s: the path is longer than %d "
			    "bytes",
			    import_testrun_names[i], IMPORT_PATH_BYTES - 1);
		if (stat(rows->path[i], &there) != 0 && errno == ENOENT)
			continue;
		if (import_file_open_found(
			&rows->file[i], rows->path[i], err) != 0)
			return -1;
		rows->is_open[i] = any = true;
		rows->bytes += rows->file[i].bytes;
	}
	if (!any)
		return err_set(err, "%s: has neither %s nor %s", rows->name,
		    import_testrun_names[0], import_testrun_names[1]);
	make_digest(rows);
	return 0;
}

static int
open_file(struct import_rows *rows, struct err *err)
{
	if (import_file_open(&rows->file[0], rows->name, err) != 0)
		return -1;
	rows->is_open[0] = true;
	rows->name = rows->file[0].name;
	rows->bytes = rows->file[0].bytes;
	memcpy(rows->digest, rows->file[0].digest, sizeof(rows->digest));
	return 0;
}

int
import_rows_open(struct import_rows *rows, enum import_kind kind,
    const char *path, struct text node, struct err *err)
{
	int rc;

	memset(rows, 0, sizeof(*rows));
	rows->kind = kind;
	rows->name = path;
	rows->node = node;
	rc = kind == IMPORT_TESTRUN ? open_directory(rows, err)
				    : open_file(rows, err);
	if (rc != 0)
		import_rows_close(rows);
	return rc;
}

void
import_rows_close(struct import_rows *rows)
{
	for (uint32_t i = 0; i < IMPORT_TESTRUN_FILES; i++) {
		if (rows->is_open[i])
			import_file_close(&rows->file[i]);
		rows->is_open[i] = false;
	}
}

static int
parse(struct import_rows *rows, struct import_row *row, struct text line,
    struct err *err)
{
	if (rows->kind != IMPORT_TESTRUN)
		return import_row_parse(row, rows->kind, line, err);
	if (import_testrun_parse(row, rows->at, line, err) != 0)
		return -1;
	row->record.node = rows->node;
	return 0;
}

/* The next line of all files. */
static enum import_next
next_line(struct import_rows *rows, struct text *line, struct err *err)
{
	for (;;) {
		enum import_next next = IMPORT_END;

		if (rows->is_open[rows->at])
			next =
			    import_file_next(&rows->file[rows->at], line, err);
		if (next != IMPORT_END || rows->at + 1 == IMPORT_TESTRUN_FILES)
			return next;
		rows->at++;
	}
}

static enum import_next
next_row(void *arg, struct import_row *row, struct err *err)
{
	struct import_rows *rows = arg;
	enum import_next next;
	struct text line;

	if (rows->kind == IMPORT_PERF)
		return import_perf_next(&rows->perf, &rows->file[0], row, err);
	do
		next = next_line(rows, &line, err);
	while (next == IMPORT_LINE && line.bytes == 0);
	if (next == IMPORT_TOO_LONG)
		err_set(err, "is longer than %d bytes", IMPORT_LINE_BYTES_MAX);
	if (next == IMPORT_LINE && parse(rows, row, line, err) != 0)
		return IMPORT_TOO_LONG;
	return next;
}

static uint64_t
get_offset(const void *arg)
{
	const struct import_rows *rows = arg;
	uint64_t offset = 0;

	for (uint32_t i = 0; i < IMPORT_TESTRUN_FILES; i++)
		offset += rows->file[i].offset;
	return offset;
}

static uint64_t
get_line(const void *arg)
{
	const struct import_rows *rows = arg;

	return rows->file[rows->at].line;
}

static const char *
get_file(const void *arg)
{
	const struct import_rows *rows = arg;

	return rows->file[rows->at].name;
}

static void
rewind_rows(void *arg)
{
	struct import_rows *rows = arg;

	rows->perf = (struct import_perf){ .nodes = 0 };
	rows->at = 0;
	for (uint32_t i = 0; i < IMPORT_TESTRUN_FILES; i++)
		if (rows->is_open[i])
			import_file_rewind(&rows->file[i]);
}

struct import_source
import_rows_source(struct import_rows *rows)
{
	return (struct import_source){
		.kind = rows->kind,
		.name = rows->name,
		.bytes = rows->bytes,
		.digest = rows->digest,
		.next = next_row,
		.offset = get_offset,
		.line = get_line,
		.file = get_file,
		.rewind = rewind_rows,
		.arg = rows,
	};
}
