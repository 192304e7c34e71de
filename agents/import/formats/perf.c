/*
 * import_perf - reads reports of an older sampler.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/formats/perf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/import/json_member.h"
#include "agents/import/formats/json_stream.h"
#include "proto/base/memory.h"
#include "proto/record/perf_group.h"
#include "proto/wire/wire.h"

enum state {
	AT_BEGIN,  /* of the file */
	IN_FILE,   /* in its object */
	IN_NODES,  /* in the list of nodes */
	IN_NODE,   /* in one of them */
	IN_LIST,   /* of reports */
	AT_END,    /* after the object */
	IS_BROKEN, /* not JSON: no more reports */
};

/* ---- one report ---- */

static int
parse_report(struct import_row *row, struct text text, struct err *err)
{
	struct record *record = &row->record;
	struct value value;
	struct wire_writer w;

	if (json_fields_read(&row->object, text, err) != 0)
		return -1;
	record->kind = RECORD_SAMPLE;
	record->source = text_of("perf");
	record->has_time = true;
	if (json_member_time(
		&row->object, "timestamp", &record->time_ns, err) != 0)
		return -1;
	wire_writer_init(&w, row->pairs, sizeof(row->pairs));
	for (int i = 0; i < PERF_GROUP_REPORTED; i++) {
		if (json_member_number(&row->object, perf_group_columns[i].name,
			&value, err) != 0)
			return -1;
		wire_put_value(&w, &value);
	}
	value.type = VALUE_NIL;
	for (int i = PERF_GROUP_REPORTED; i < PERF_GROUP_COLUMNS; i++)
		wire_put_value(&w, &value);
	record->values = PERF_GROUP_COLUMNS;
	record->value_bytes =
	    (struct text){ (const char *)row->pairs, (uint32_t)w.bytes };
	return record_check(record, err);
}

/* ---- definitions ---- */

static void
put_list(struct wire_writer *w, const char *key, int which)
{
	char list[PERF_GROUP_COLUMNS * 32];
	size_t used = 0;

	for (int i = 0; i < PERF_GROUP_COLUMNS; i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used,
		    "%s%s", i > 0 ? " " : "",
		    which == 0   ? perf_group_columns[i].name
		    : which == 1 ? perf_group_columns[i].unit
				 : "gauge");
	wire_put_text_attribute(w, text_of(key), text_of(list));
}

static enum import_next
make_definition(struct import_row *row)
{
	struct wire_writer w;

	wire_writer_init(&w, row->pairs, sizeof(row->pairs));
	put_list(&w, "names", 0);
	put_list(&w, "units", 1);
	put_list(&w, "types", 2);
	row->aside = true;
	row->record.kind = RECORD_ENTITY;
	row->record.source = text_of("set");
	row->record.name = text_of("perf");
	row->record.attributes = 3;
	row->record.pairs =
	    (struct text){ (const char *)row->pairs, (uint32_t)w.bytes };
	return IMPORT_LINE;
}

static enum import_next
make_node(struct import_row *row)
{
	row->aside = true;
	row->record.kind = RECORD_ENTITY;
	row->record.source = text_of("node");
	row->record.name = row->record.node;
	return IMPORT_LINE;
}

/* ---- the file ---- */

/* Prefix the error with its position. */
static enum import_next
bad(const struct import_perf *p, struct err *err)
{
	char name[300];

	if (p->node_bytes > 0)
		text_quote(name, sizeof(name),
		    (struct text){ p->node, p->node_bytes });
	else
		snprintf(
		    name, sizeof(name), "%" PRIu64 " of the list", p->nodes);
	if (p->state == IN_LIST)
		err_prefix(err, "node %s, report %" PRIu64, name, p->reports);
	else if (p->state == IN_NODE || p->state == IN_NODES ||
		 (p->state == IN_FILE && p->by_name))
		err_prefix(err, "node %s", name);
	return IMPORT_TOO_LONG;
}

/* A name is a text, or a number. */
static int
set_node(struct import_perf *p, struct text text, struct err *err)
{
	struct json_keys keys = { .at = NULL };
	enum text_fault fault = TEXT_OK;
	struct json_reader reader;
	struct value number;
	struct text name;

	p->node_bytes = 0;
	json_reader_init_strict(&reader, text, &keys);
	text = json_reader_take(&reader);
	if (!json_reader_finish(&reader)) {
		err_set(err, "its name is %s", reader.err.text);
	} else if (text.at[0] == '"') {
		name = json_keys_decode(
		    &keys, (struct text){ text.at + 1, text.bytes - 2 });
		fault = text_check_name(name);
		if (fault == TEXT_OK)
			memcpy(p->node, name.at, p->node_bytes = name.bytes);
		else
			err_set(err, "its name %s", text_fault_words(fault));
	} else if (json_fields_number(text, &number, NULL) == 0 &&
		   number.type == VALUE_INT) {
		p->node_bytes = (uint32_t)snprintf(
		    p->node, sizeof(p->node), "%" PRId64, number.is.i);
	} else {
		err_set(err, "its name is neither a text nor a whole number");
	}
	json_keys_clear(&keys);
	return p->node_bytes > 0 ? 0 : -1;
}

/* The position is the first byte of the expected list of reports. */
static int
begin_list(struct import_perf *p, struct json_stream *scan, struct err *err)
{
	p->listed = true;
	if (json_stream_peek(scan) != '[') {
		json_stream_skip(scan);
		return err_set(err, "its reports are not a list");
	}
	json_stream_expect(scan, '[');
	p->state = IN_LIST;
	p->filled = false;
	p->reports = 0;
	return 0;
}

/* A member of the file's object: the list of nodes, or one node's reports. */
static int
take_file_member(
    struct import_perf *p, struct json_stream *scan, struct err *err)
{
	struct text key = json_stream_value(scan);

	if (text_equal(key, text_of("\"nodes\""))) {
		json_stream_expect(scan, ':');
		json_stream_expect(scan, '[');
		p->state = IN_NODES;
		p->filled = false;
		p->by_name = false;
		return 0;
	}
	p->nodes++;
	p->by_name = true;
	if (scan->fault == JSON_STREAM_OK && set_node(p, key, err) != 0) {
		json_stream_expect(scan, ':');
		json_stream_skip(scan);
		return -1;
	}
	json_stream_expect(scan, ':');
	return begin_list(p, scan, err);
}

static int
take_node_member(
    struct import_perf *p, struct json_stream *scan, struct err *err)
{
	struct text key = json_stream_value(scan);
	bool is_node = text_equal(key, text_of("\"node\""));
	bool is_list = text_equal(key, text_of("\"reports\""));

	json_stream_expect(scan, ':');
	if (is_node)
		return set_node(p, json_stream_value(scan), err);
	if (is_list && p->node_bytes > 0)
		return begin_list(p, scan, err);
	json_stream_skip(scan);
	if (!is_list)
		return 0;
	p->listed = true;
	return err_set(err, "the reports are not preceded by a name");
}

/* The next element of the current container. */
static int
take_element(struct import_perf *p, struct json_stream *scan,
    struct import_row *row, struct err *err)
{
	switch ((enum state)p->state) {
	case IN_FILE: return take_file_member(p, scan, err);
	case IN_NODE: return take_node_member(p, scan, err);
	case IN_NODES:
		p->nodes++;
		p->node_bytes = 0;
		p->listed = false;
		if (json_stream_peek(scan) != '{') {
			json_stream_skip(scan);
			return err_set(err, "is not an object");
		}
		json_stream_expect(scan, '{');
		p->state = IN_NODE;
		p->filled = false;
		return 0;
	default: {
		struct text report = json_stream_value(scan);

		p->reports++;
		if (scan->fault != JSON_STREAM_OK)
			return 0; /* reported by the caller, which checks the
				     stream */
		if (report.at == NULL)
			return err_set(err, "is longer than %d bytes",
			    IMPORT_LINE_BYTES_MAX);
		return parse_report(row, report, err);
	}
	}
}

/* The container ends.  -1: a node had no list. */
static int
leave(struct import_perf *p, struct err *err)
{
	enum state from = (enum state)p->state;

	p->filled = true;
	switch (from) {
	case IN_LIST: p->state = p->by_name ? IN_FILE : IN_NODE; return 0;
	case IN_NODE:
		p->state = IN_NODES;
		return p->listed ? 0 : err_set(err, "it has no reports");
	case IN_NODES: p->state = IN_FILE; return 0;
	default: p->state = AT_END; return 0;
	}
}

static enum import_next
end(struct import_perf *p, struct json_stream *scan, struct err *err)
{
	bool more = p->state == AT_END && json_stream_more(scan);

	p->state = IS_BROKEN;
	if (more) {
		err_set(err, "something follows the end of the object");
		return IMPORT_TOO_LONG;
	}
	/* Read to the end, which detects a change of the file. */
	if (json_stream_drain(scan) != 0) {
		*err = scan->err;
		return IMPORT_FAILED;
	}
	return IMPORT_END;
}

/* One step: 1 and a row, 0 to continue, -1 for an error. */
static int
step(struct import_perf *p, struct json_stream *scan, struct import_row *row,
    struct err *err)
{
	bool was_list = p->state == IN_LIST;
	char closing = p->state == IN_LIST || p->state == IN_NODES ? ']' : '}';
	int rc;

	if (p->state == AT_BEGIN) {
		json_stream_expect(scan, '{');
		p->state = IN_FILE;
		return 0;
	}
	if (json_stream_peek(scan) == closing) {
		json_stream_expect(scan, closing);
		rc = leave(p, err);
		if (!was_list || p->reports > 0 || rc != 0)
			return rc;
		make_node(row);
		return 1;
	}
	if (p->filled)
		json_stream_expect(scan, ',');
	p->filled = true;
	rc = take_element(p, scan, row, err);
	return rc == 0 && was_list ? 1 : rc;
}

enum import_next
import_perf_next(struct import_perf *perf, struct import_file *file,
    struct import_row *row, struct err *err)
{
	struct json_stream scan = { .file = file };

	while (perf->state < AT_END) {
		int rc;

		row->aside = false;
		row->partition = (struct text){ NULL, 0 };
		row->record = (struct record){ .kind = RECORD_SAMPLE,
			.node = { perf->node, perf->node_bytes } };
		if (perf->state == IN_LIST && !perf->defined) {
			perf->defined = true;
			return make_definition(row);
		}
		rc = step(perf, &scan, row, err);
		if (scan.fault != JSON_STREAM_OK)
			*err = scan.err;
		if (scan.fault == JSON_STREAM_FAILED)
			return IMPORT_FAILED;
		if (scan.fault == JSON_STREAM_BROKEN) {
			enum import_next next = bad(perf, err);

			perf->state = IS_BROKEN;
			return next;
		}
		if (rc < 0)
			return bad(perf, err);
		if (rc > 0)
			return IMPORT_LINE;
	}
	return end(perf, &scan, err);
}

/* ---- the format ---- */

struct perf {
	struct import_files files; /* first: agents/import/source.h */
	struct import_perf at;
};

static enum import_next
next_row(void *arg, struct import_row *row, struct err *err)
{
	struct perf *perf = arg;

	return import_perf_next(&perf->at, &perf->files.file[0], row, err);
}

static void
rewind_perf(void *arg)
{
	struct perf *perf = arg;

	perf->at = (struct import_perf){ .nodes = 0 };
	import_files_rewind(&perf->files);
}

static int
open_perf(struct import_source *source, const char *path,
    const struct import_format_options *options, struct err *err)
{
	if (import_files_new(source, sizeof(struct perf), IMPORT_PERF, path,
		options->name, err) != 0)
		return -1;
	source->next = next_row;
	source->rewind = rewind_perf;
	return 0;
}

const struct import_format import_format_perf = {
	.word = "perf",
	.operands = " FILE...",
	.summary = "reports of an older sampler of hosts",
	.options = "",
	.kind = IMPORT_PERF,
	.without_partition = "reports",
	.rows = "reports",
	.bad_rows = "bad reports",
	.open = open_perf,
};
