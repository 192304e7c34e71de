/*
 * import_source - rows that can be read repeatedly.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/source.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

enum { LOOK_BYTES = 512 };

void
import_source_close(struct import_source *source)
{
	if (source->close != NULL)
		source->close(source->arg);
}

/* One sentence for a file that has no lines, instead of one for each. */
static int
check_text(struct import_file *file, struct err *err)
{
	static const struct {
		const char *begin, *what, *program;
	} packed[] = {
		{ "\x1f\x8b", "gzip", "gunzip" },
		{ "\x28\xb5\x2f\xfd", "zstd", "zstd -d" },
		{ "\xfd\x37zXZ", "xz", "unxz" },
		{ "BZh", "bzip2", "bunzip2" },
	};
	struct text view;

	if (import_file_see(file, LOOK_BYTES, &view, err) != 0)
		return -1;
	for (size_t i = 0; i < sizeof(packed) / sizeof(*packed); i++) {
		size_t bytes = strlen(packed[i].begin);

		if (view.bytes >= bytes &&
		    memcmp(view.at, packed[i].begin, bytes) == 0)
			return err_set(err,
			    "%s: is compressed with %s, and import reads text: "
			    "unpack it first (%s)",
			    file->name, packed[i].what, packed[i].program);
	}
	if (view.bytes > LOOK_BYTES)
		view.bytes = LOOK_BYTES;
	if (view.bytes > 0 && memchr(view.at, '\0', view.bytes) != NULL)
		return err_set(err,
		    "%s: is binary (byte 0), and import reads lines of UTF-8 "
		    "text",
		    file->name);
	import_file_rewind(file);
	return 0;
}

static int
open_files(struct import_files *files, const char *path, const char *name,
    struct err *err)
{
	if (import_file_open(&files->file[0], path, err) != 0)
		return -1;
	if (name != NULL)
		files->file[0].name = name;
	if (check_text(&files->file[0], err) != 0) {
		import_file_close(&files->file[0]);
		return -1;
	}
	files->is_open[0] = true;
	files->name = files->file[0].name;
	files->bytes = files->file[0].bytes;
	memcpy(files->digest, files->file[0].digest, sizeof(files->digest));
	return 0;
}

void
import_files_close(struct import_files *files)
{
	for (uint32_t i = 0; i < IMPORT_FILES_MAX; i++) {
		if (files->is_open[i])
			import_file_close(&files->file[i]);
		files->is_open[i] = false;
	}
}

static enum import_next
next_line(struct import_files *files, struct text *line, struct err *err)
{
	for (;;) {
		enum import_next next = IMPORT_END;

		if (files->is_open[files->at])
			next = import_file_next(
			    &files->file[files->at], line, err);
		if (next != IMPORT_END || files->at + 1 == IMPORT_FILES_MAX)
			return next;
		files->at++;
	}
}

enum import_next
import_files_next_row(struct import_files *files,
    int (*parse)(
	void *arg, struct import_row *row, struct text line, struct err *err),
    void *arg, struct import_row *row, struct err *err)
{
	enum import_next next;
	struct text line;

	do
		next = next_line(files, &line, err);
	while (next == IMPORT_LINE && line.bytes == 0);
	if (next == IMPORT_TOO_LONG)
		err_set(err, "is longer than %d bytes", IMPORT_LINE_BYTES_MAX);
	if (next == IMPORT_LINE && parse(arg, row, line, err) != 0)
		return IMPORT_TOO_LONG;
	return next;
}

static uint64_t
get_offset(const void *arg)
{
	const struct import_files *files = arg;
	uint64_t offset = 0;

	for (uint32_t i = 0; i < IMPORT_FILES_MAX; i++)
		offset += files->file[i].offset;
	return offset;
}

static uint64_t
get_line(const void *arg)
{
	const struct import_files *files = arg;

	return files->file[files->at].line;
}

static const char *
get_file(const void *arg)
{
	const struct import_files *files = arg;

	return files->file[files->at].name;
}

void
import_files_rewind(struct import_files *files)
{
	files->at = 0;
	for (uint32_t i = 0; i < IMPORT_FILES_MAX; i++)
		if (files->is_open[i])
			import_file_rewind(&files->file[i]);
}

static void
rewind_files(void *arg)
{
	import_files_rewind(arg);
}

static void
close_files(void *arg)
{
	import_files_close(arg);
	free(arg);
}

struct import_source
import_files_source(struct import_files *files, enum import_kind kind)
{
	return (struct import_source){
		.kind = kind,
		.name = files->name,
		.bytes = files->bytes,
		.digest = files->digest,
		.offset = get_offset,
		.line = get_line,
		.file = get_file,
		.rewind = rewind_files,
		.close = close_files,
		.arg = files,
	};
}

int
import_files_new(struct import_source *source, size_t bytes,
    enum import_kind kind, const char *path, const char *name, struct err *err)
{
	struct import_files *files = memory_zero(1, bytes);

	if (open_files(files, path, name, err) != 0) {
		free(files);
		return -1;
	}
	*source = import_files_source(files, kind);
	return 0;
}
