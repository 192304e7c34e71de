/*
 * import_testrun - test runs of a device farm as rows.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/formats/testrun.h"

#include <assert.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agents/import/json_member.h"
#include "proto/base/memory.h"

const char *const import_testrun_names[IMPORT_TESTRUN_FILES] = {
	[IMPORT_TESTRUN_RUNS] = "testruns.jsonl",
	[IMPORT_TESTRUN_EVENTS] = "events.jsonl",
};

/* ---- lines ---- */

void
import_testrun_put_run(struct import_row *row, struct text run)
{
	row->partition = (struct text){ NULL, 0 };
	row->aside = false;
	row->record = (struct record){
		.kind = RECORD_ENTITY, .source = text_of("run"), .name = run
	};
}

int
import_testrun_put_event(struct import_row *row, struct text run,
    struct text name, int64_t emit_ns, const int64_t *receive_ns,
    struct err *err)
{
	struct value value = { .type = VALUE_TEXT, .is.text = run };

	row->partition = (struct text){ NULL, 0 };
	row->aside = false;
	row->record = (struct record){ .kind = RECORD_EVENT,
		.time_ns = emit_ns,
		.has_time = true,
		.source = text_of("run"),
		.name = name };
	if (import_row_put(row, "run", &value, err) != 0)
		return -1;
	if (receive_ns == NULL)
		return 0;
	value = (struct value){ .type = VALUE_INT, .is.i = *receive_ns };
	return import_row_put(row, "receive_ns", &value, err);
}

/* A list as in the line, without blanks between its parts. */
static int
put_list(
    struct import_row *row, const char *key, struct text list, struct err *err)
{
	struct value value = { .type = VALUE_TEXT };
	char *compact = memory_alloc(list.bytes);
	bool in_text = false, escaped = false;
	uint32_t bytes = 0;
	int rc;

	for (uint32_t i = 0; i < list.bytes; i++) {
		char c = list.at[i];

		if (!in_text && strchr(" \t\r\n", c) != NULL)
			continue;
		if (c == '"' && !escaped)
			in_text = !in_text;
		escaped = in_text && !escaped && c == '\\';
		compact[bytes++] = c;
	}
	value.is.text = (struct text){ compact, bytes };
	rc = import_row_put(row, key, &value, err);
	free(compact);
	return rc;
}

static int
put_property(
    struct import_row *row, const char *key, bool is_list, struct err *err)
{
	struct text from = json_fields_find(&row->object, key);
	struct value value = { .type = VALUE_NIL };

	if (from.bytes == 0)
		return 0;
	if (json_fields_is_null(from))
		return import_row_put(row, key, &value, err);
	if (is_list && !json_fields_is_list(from))
		return err_set(err, "\"%s\" is not a list", key);
	if (is_list)
		return put_list(row, key, from, err);
	value.type = VALUE_TEXT;
	if (!json_fields_text(&row->object, from, &value.is.text))
		return err_set(err, "\"%s\" is not text", key);
	return import_row_put(row, key, &value, err);
}

static int
parse_run(struct import_row *row, struct err *err)
{
	static const struct {
		const char *key;
		bool is_list;
	} properties[] = {
		{ "device_group", false },
		{ "queue", false },
		{ "configuration", false },
		{ "host_worker_instances", true },
		{ "requestor", false },
		{ "request_id", false },
		{ "error", false },
	};
	struct text run;

	if (json_member_name(&row->object, "testrun_id", &run, err) != 0)
		return -1;
	import_testrun_put_run(row, run);
	for (size_t i = 0; i < sizeof(properties) / sizeof(*properties); i++)
		if (put_property(row, properties[i].key, properties[i].is_list,
			err) != 0)
			return -1;
	return 0;
}

static int
parse_event(struct import_row *row, struct err *err)
{
	struct text received = json_fields_find(&row->object, "event_receive");
	bool has_receive = received.bytes > 0 && !json_fields_is_null(received);
	int64_t emit_ns, receive_ns = 0;
	struct text run, name;

	if (json_member_name(&row->object, "testrun_id", &run, err) != 0 ||
	    json_member_name(&row->object, "event_name", &name, err) != 0 ||
	    json_member_time(&row->object, "event_emit", &emit_ns, err) != 0)
		return -1;
	if (has_receive && json_member_time(&row->object, "event_receive",
			       &receive_ns, err) != 0)
		return -1;
	return import_testrun_put_event(
	    row, run, name, emit_ns, has_receive ? &receive_ns : NULL, err);
}

int
import_testrun_parse(struct import_row *row, enum import_testrun_file file,
    struct text line, struct err *err)
{
	int rc = import_row_load(row, line, err);

	if (rc == 0)
		rc = file == IMPORT_TESTRUN_RUNS ? parse_run(row, err)
						 : parse_event(row, err);
	return rc != 0 ? -1 : record_check(&row->record, err);
}

/* ---- the directory ---- */

struct testrun {
	struct import_files files; /* first: agents/import/source.h */
	struct text node;          /* of all rows */
	char path[IMPORT_TESTRUN_FILES][IMPORT_PATH_BYTES];
};
static_assert((int)IMPORT_TESTRUN_FILES == IMPORT_FILES_MAX,
    "the files of a directory are those of a source");

/* The rows follow from the content of the directory and from the node. */
static void
make_digest(struct testrun *testrun)
{
	struct import_files *files = &testrun->files;
	crypto_generichash_state state;

	crypto_generichash_init(&state, NULL, 0, sizeof(files->digest));
	for (uint32_t i = 0; i < IMPORT_TESTRUN_FILES; i++) {
		unsigned char there = files->is_open[i];

		crypto_generichash_update(&state, &there, sizeof(there));
		if (there)
			crypto_generichash_update(&state, files->file[i].digest,
			    sizeof(files->file[i].digest));
	}
	crypto_generichash_update(&state,
	    (const unsigned char *)testrun->node.at, testrun->node.bytes);
	crypto_generichash_final(&state, files->digest, sizeof(files->digest));
}

/* Each file of a directory may be missing, but not all. */
static int
open_directory(struct testrun *testrun, const char *dir, struct err *err)
{
	struct import_files *files = &testrun->files;
	bool any = false;
	struct stat there;

	files->name = dir;
	if (stat(dir, &there) != 0)
		return err_set(err, "%s: %s", dir, strerror(errno));
	if (!S_ISDIR(there.st_mode))
		return err_set(err, "%s: %s", dir, strerror(ENOTDIR));
	for (uint32_t i = 0; i < IMPORT_TESTRUN_FILES; i++) {
		if ((size_t)snprintf(testrun->path[i], sizeof(testrun->path[i]),
			"%s/%s", dir,
			import_testrun_names[i]) >= sizeof(testrun->path[i]))
			return err_set(err,
			    "%s: the path is longer than %d "
			    "bytes",
			    import_testrun_names[i], IMPORT_PATH_BYTES - 1);
		if (stat(testrun->path[i], &there) != 0 && errno == ENOENT)
			continue;
		if (import_file_open_found(
			&files->file[i], testrun->path[i], err) != 0)
			return -1;
		files->is_open[i] = any = true;
		files->bytes += files->file[i].bytes;
	}
	if (!any)
		return err_set(err, "%s: has neither %s nor %s", dir,
		    import_testrun_names[0], import_testrun_names[1]);
	make_digest(testrun);
	return 0;
}

static int
parse(void *arg, struct import_row *row, struct text line, struct err *err)
{
	const struct testrun *testrun = arg;

	if (import_testrun_parse(row,
		(enum import_testrun_file)testrun->files.at, line, err) != 0)
		return -1;
	row->record.node = testrun->node;
	return 0;
}

static enum import_next
next_row(void *arg, struct import_row *row, struct err *err)
{
	struct testrun *testrun = arg;

	return import_files_next_row(&testrun->files, parse, testrun, row, err);
}

static int
open_testrun(struct import_source *source, const char *dir,
    const struct import_format_options *options, struct err *err)
{
	struct testrun *testrun = memory_zero(1, sizeof(*testrun));

	testrun->node = text_of(
	    options->node != NULL ? options->node : IMPORT_TESTRUN_NODE);
	if (open_directory(testrun, dir, err) != 0) {
		import_files_close(&testrun->files);
		free(testrun);
		return -1;
	}
	*source = import_files_source(&testrun->files, IMPORT_TESTRUN);
	source->next = next_row;
	return 0;
}

const struct import_format import_format_testrun = {
	.word = "testrun",
	.operands = " DIR...",
	.summary = "the test runs of a device farm",
	.options = "",
	.kind = IMPORT_TESTRUN,
	.without_partition = "test runs",
	.rows = "rows",
	.bad_rows = "bad lines",
	.not_stdin = "directories",
	.open = open_testrun,
};
