/*
 * rig - a journal, a writer and a reader in a temporary folder, for tests of
 * everything between them.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_AGGREGATOR_RIG_H
#define TESTS_UNIT_AGGREGATOR_RIG_H

#include "tests/unit/check.h"

#include <endian.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggregator/admin/verify.h"
#include "aggregator/query/page/page.h"
#include "aggregator/query/reader.h"
#include "aggregator/writer/writer.h"
#include "proto/os/clock.h"

#define RIG_PARTITION "acct$pool"
#define RIG_T0        (INT64_C(1508000000) * 1000000000)
#define RIG_OWNER     (UINT64_MAX - 7) /* of all streams */

struct rig {
	char folder[64], models[80];
	struct journal *journal;
	struct writer *writer;
	struct writer_options options;
	bool begun;            /* something was sent and not yet flushed */
	uint32_t examined_max; /* for a page of a reader; 0: the default */
	unsigned pages;        /* of the last answer */
	uint64_t seq[16];      /* of session 0, 1 ... */
	uint64_t received;     /* batches, */
	bool in_order;         /* each later than the one before, as in life */
	struct wire_writer batch;
	char node[NAME_BYTES_MAX + 1]; /* current context */
	unsigned char bytes[WIRE_BATCH_BYTES];
	unsigned char frame[WIRE_FRAME_BYTES_MAX];
};

static inline void
rig_good(int rc, const struct err *err)
{
	if (rc != 0)
		fail_msg("%s", err->text);
}

static inline void
rig_open_indexer(struct rig *rig)
{
	struct err err = { 0 };

	if (rig->options.map_bytes == 0)
		rig->options.map_bytes = INT64_C(4) << 30;
	rig->options.models = rig->models[0] ? rig->models : NULL;
	rig_good(writer_open(&rig->writer, rig->folder, rig->journal,
		     &rig->options, &err),
	    &err);
}

/* Start with a model "m" of this text; NULL: without a model. */
static inline void
rig_open(struct rig *rig, const char *model)
{
	struct journal_options options = { .map_bytes = INT64_C(4) << 30 };
	struct err err = { 0 };
	char path[128];
	FILE *file;

	memset(rig, 0, sizeof(*rig));
	strcpy(rig->folder, "/tmp/poolscope-rig-XXXXXX");
	assert_non_null(mkdtemp(rig->folder));
	if (model != NULL) {
		snprintf(
		    rig->models, sizeof(rig->models), "%s/models", rig->folder);
		assert_int_equal(mkdir(rig->models, 0700), 0);
		snprintf(path, sizeof(path), "%s/m.conf", rig->models);
		file = fopen(path, "w");
		assert_non_null(file);
		fputs(model, file);
		fclose(file);
	}
	rig_good(
	    journal_open(&rig->journal, rig->folder, &options, &err), &err);
	rig_open_indexer(rig);
	wire_writer_init(&rig->batch, rig->bytes, sizeof(rig->bytes));
}

/* Sync what was sent to disk. */
static inline void
rig_flush(struct rig *rig)
{
	struct err err = { 0 };

	if (rig->begun)
		assert_int_equal(journal_commit(rig->journal, &err), DB_OK);
	rig->begun = false;
}

static inline int
rig_remove(const char *path, const struct stat *st, int flag, struct FTW *at)
{
	(void)st;
	(void)flag;
	(void)at;
	return remove(path);
}

static inline void
rig_close(struct rig *rig)
{
	rig_flush(rig);
	writer_close(&rig->writer);
	journal_close(&rig->journal);
	assert_int_equal(
	    nftw(rig->folder, rig_remove, 8, FTW_DEPTH | FTW_PHYS), 0);
}

static inline struct session_id
rig_session(unsigned number)
{
	struct session_id session = { { 'r', 'i', 'g', 's', 'e', 's', 's', 'i',
	    'o', 'n' } };

	session.bytes[15] = (unsigned char)number;
	return session;
}

/* Append the batch to the journal (durable after rig_flush). */
static inline void
rig_send(struct rig *rig, unsigned session)
{
	struct wire_header header = { .type = WIRE_BATCH,
		.partition = text_of(RIG_PARTITION),
		.node = text_of("head"),
		.session = rig_session(session),
		.seq = ++rig->seq[session],
		.records = rig->batch.records,
		.body_bytes = (uint32_t)rig->batch.bytes };
	struct journal_note note = { .seq = header.seq,
		.owner = RIG_OWNER,
		.receive_ns = RIG_T0 + (int64_t)(rig->in_order ? ++rig->received
							       : header.seq) };
	struct err err = { 0 };
	size_t bytes = wire_frame(rig->frame, sizeof(rig->frame), &header,
	    (struct text){
		(const char *)rig->bytes, (uint32_t)rig->batch.bytes });

	assert_true(bytes > 0 && !rig->batch.full);
	if (!rig->begun)
		rig_good(journal_begin(rig->journal, &err), &err);
	rig->begun = true;
	journal_append(rig->journal,
	    (struct text){ (const char *)rig->frame, (uint32_t)bytes }, &note);
	wire_writer_init(&rig->batch, rig->bytes, sizeof(rig->bytes));
	rig->node[0] = '\0';
}

static inline void
rig_record(struct rig *rig, const char *node, const struct record *record)
{
	if (strcmp(rig->node, node) != 0)
		wire_put_context(&rig->batch, text_of(node));
	snprintf(rig->node, sizeof(rig->node), "%s", node);
	assert_true(wire_put_record(&rig->batch, record));
}

/* Add an event to the batch; `message` may be NULL. */
static inline void
rig_event(struct rig *rig, const char *node, int64_t time_ns,
    const char *source, const char *name, const char *message)
{
	unsigned char pairs[1024];
	struct wire_writer w;
	struct record record = { .kind = RECORD_EVENT,
		.time_ns = time_ns,
		.source = text_of(source),
		.name = text_of(name) };

	wire_writer_init(&w, pairs, sizeof(pairs));
	if (message != NULL)
		wire_put_text_attribute(
		    &w, text_of("message"), text_of(message));
	record.attributes = message != NULL;
	record.pairs = (struct text){ (const char *)w.at, (uint32_t)w.bytes };
	rig_record(rig, node, &record);
}

static inline void
rig_indexer(struct rig *rig)
{
	struct err err = { 0 };

	rig_flush(rig);
	rig_good(writer_run(rig->writer, &err), &err);
}

static inline void
rig_wrong(void *arg, const char *sentence)
{
	(void)arg;
	print_error("%s\n", sentence);
}

/* What verification reports, as a number. */
static inline void
rig_count(void *arg, const char *sentence)
{
	(void)sentence;
	++*(unsigned *)arg;
}

static inline void
rig_verify(struct rig *rig)
{
	struct err err = { 0 };

	assert_int_equal(
	    verify_tables(writer_db(rig->writer), rig_wrong, NULL, &err), 0);
}

/* ---- reading: every record as a line, appended to `out` ---- */

static inline void
rig_line_value(FILE *out, const struct value *value)
{
	switch (value->type) {
	case VALUE_NIL: fputs("nil", out); break;
	case VALUE_BOOL: fputs(value->is.boolean ? "yes" : "no", out); break;
	case VALUE_INT: fprintf(out, "%lld", (long long)value->is.i); break;
	case VALUE_UINT:
		fprintf(out, "%llu", (unsigned long long)value->is.u);
		break;
	case VALUE_FLOAT: fprintf(out, "%.17g", value->is.f); break;
	default:
		fprintf(out, "'%.*s'", (int)value->is.text.bytes,
		    value->is.text.at);
	}
}

static inline void
rig_line(FILE *out, const struct record *record)
{
	struct text pairs = record->pairs, values = record->value_bytes;
	struct record_attribute attribute;
	struct value value;

	fprintf(out, "%s %.*s s%u.%llu.%u", record_kind_name(record->kind),
	    (int)record->node.bytes, record->node.at,
	    record->id.session.bytes[15], (unsigned long long)record->id.seq,
	    record->id.index);
	if (record->has_time)
		fprintf(out, " %lld", (long long)record->time_ns);
	if (record->has_end)
		fprintf(out, "..%lld", (long long)record->end_ns);
	fprintf(out, " [%.*s|%.*s|%.*s] %llu", (int)record->source.bytes,
	    record->source.at, (int)record->name.bytes, record->name.at,
	    (int)record->key.bytes, record->key.at,
	    (unsigned long long)record->count);
	while (record_next_attribute(&pairs, &attribute)) {
		fprintf(
		    out, " %.*s=", (int)attribute.key.bytes, attribute.key.at);
		rig_line_value(out, &attribute.value);
	}
	while (record->kind == RECORD_SAMPLE &&
	       record_next_value(&values, &value)) {
		fputc(' ', out);
		rig_line_value(out, &value);
	}
	fputc('\n', out);
}

/* The `i`-th of 64-bit numbers, little-endian. */
static inline double
rig_cell(struct text bytes, size_t i, int64_t *whole)
{
	uint64_t cell;
	double number;

	assert_true(8 * (i + 1) <= bytes.bytes);
	memcpy(&cell, bytes.at + 8 * i, sizeof(cell));
	cell = le64toh(cell);
	*whole = (int64_t)cell;
	memcpy(&number, &cell, sizeof(number));
	return number;
}

/* Convert samples in columns to single samples. */
static inline void
rig_rows(FILE *out, const struct record *record)
{
	size_t count = record->count, i, c;
	size_t columns = record->value_bytes.bytes / 8 / count;
	int64_t time_ns;
	double number;

	assert_int_equal(record->value_bytes.bytes, 8 * count * columns);
	for (i = 0; i < count; i++) {
		rig_cell(record->value_bytes, i, &time_ns);
		assert_true(i > 0 || time_ns == record->time_ns);
		assert_true(i + 1 < count || time_ns == record->end_ns);
		fprintf(out, "sample %.*s s1 %lld [%.*s||] 0",
		    (int)record->node.bytes, record->node.at,
		    (long long)time_ns, (int)record->source.bytes,
		    record->source.at);
		for (c = 1; c < columns; c++) {
			number = rig_cell(
			    record->value_bytes, c * count + i, &time_ns);
			if (isnan(number))
				fputs(" nil", out);
			else
				fprintf(out, " %.17g", number);
		}
		fputc('\n', out);
	}
}

/* Convert buckets of one sample each, in cells, to single buckets with all of
 * their numbers. */
static inline void
rig_singles(FILE *out, const struct record *record)
{
	size_t count = record->count;
	int64_t step_ns = (record->end_ns - record->time_ns) / (int64_t)count;
	struct record one = *record;
	int64_t boot, type, time_ns, bits;
	unsigned char bytes[128];
	struct wire_writer w;

	assert_int_equal(record->value_bytes.bytes, 8 * (2 + 2 * count));
	rig_cell(record->value_bytes, 0, &boot);
	rig_cell(record->value_bytes, 1, &type);
	assert_true(type >= 0 && type < 6);
	one.count = 0;
	for (size_t i = 0; i < count; i++) {
		double real =
		    rig_cell(record->value_bytes, 2 + count + i, &bits);
		double number = type / 2 == 2   ? real
				: type / 2 == 1 ? (double)(uint64_t)bits
						: (double)bits;
		struct value value = { type / 2 == 2   ? VALUE_FLOAT
				       : type / 2 == 1 ? VALUE_UINT
						       : VALUE_INT,
			{ .i = bits } };
		struct value numbers[11] = { { VALUE_INT, { .i = 1 } } };
		unsigned used = 1;

		rig_cell(record->value_bytes, 2 + i, &time_ns);
		for (unsigned k = 0; k < 4; k++)
			numbers[used++] = (struct value){ VALUE_INT,
				{ .i = k < 2 ? time_ns : boot } };
		for (unsigned k = 0; k < 3; k++)
			numbers[used++] = (struct value){ VALUE_FLOAT,
				{ .f = type % 2 == 0 ? number
				       : k == 2      ? 0
						     : NAN } };
		if (type % 2 == 1)
			numbers[used++] =
			    (struct value){ VALUE_FLOAT, { .f = 0 } };
		numbers[used++] = value;
		numbers[used++] = value;
		wire_writer_init(&w, bytes, sizeof(bytes));
		for (unsigned k = 0; k < used; k++)
			assert_true(wire_put_value(&w, &numbers[k]));
		one.time_ns = record->time_ns + (int64_t)i * step_ns;
		one.end_ns = one.time_ns + step_ns;
		one.values = used;
		one.value_bytes =
		    (struct text){ (const char *)bytes, (uint32_t)w.bytes };
		rig_line(out, &one);
	}
}

/* Convert a record of consecutive buckets to single buckets; likewise
 * samples. */
static inline void
rig_lines(FILE *out, const struct record *record)
{
	uint32_t count = record->count > 1 ? (uint32_t)record->count : 1;
	struct text rest = record->value_bytes;
	struct record one = *record;
	int64_t step_ns;
	struct value value;

	if (record->kind == RECORD_SAMPLE && record->name.bytes > 0 &&
	    record->values == 0) {
		if (text_equal(record->name, text_of("*")))
			rig_rows(out, record);
		else
			rig_singles(out, record);
		return;
	}
	if (record->kind != RECORD_SAMPLE || count == 1) {
		rig_line(out, record);
		return;
	}
	assert_int_equal(record->values % count, 0);
	one.count = 0;
	one.values = record->values / count;
	step_ns = (record->end_ns - record->time_ns) / count;
	for (uint32_t i = 0; i < count; i++) {
		one.time_ns = record->time_ns + i * step_ns;
		one.end_ns = one.time_ns + step_ns;
		one.value_bytes.at = rest.at;
		for (uint32_t k = 0; k < one.values; k++)
			assert_true(record_next_value(&rest, &value));
		one.value_bytes.bytes =
		    (uint32_t)(rest.at - one.value_bytes.at);
		rig_line(out, &one);
	}
	assert_int_equal(rest.bytes, 0);
}

enum rig_what {
	RIG_SELECT,
	RIG_NEWEST,
	RIG_STATS,
	RIG_STATS_BY_NODE,
	RIG_STATUS
};

static inline bool
rig_page(struct reader *reader, enum rig_what what,
    const struct wire_query *query, struct wire_writer *w)
{
	static const enum wire_type types[] = { WIRE_SELECT, WIRE_SELECT,
		WIRE_STATS, WIRE_STATS, WIRE_STATUS };
	static const uint16_t flags[] = { [RIG_NEWEST] = WIRE_FLAG_NEWEST,
		[RIG_STATS_BY_NODE] = WIRE_FLAG_BY_NODE,
		[RIG_STATUS] = 0 };
	const struct wire_header header = { .type = types[what],
		.flags = flags[what],
		.partition = text_of(RIG_PARTITION) };
	struct err err = { 0 };
	bool last = false;

	rig_good(reader_answer(reader, &header, query, w, &last, &err), &err);
	return last;
}

/* An answer that does not end is wrong. */
enum { RIG_PAGES_MAX = 100000 };

/* Read all pages of an answer, each checked like one from the network; a new
 * string, and the number of records. */
static inline char *
rig_read(struct rig *rig, enum rig_what what, struct wire_query query,
    uint64_t *records)
{
	static unsigned char page[256 << 10];
	char cursor[WIRE_CURSOR_BYTES_MAX], *text = NULL;
	struct wire_room room = { .at = NULL };
	struct reader *reader;
	struct err err = { 0 };
	size_t bytes = 0;
	bool last = false;
	FILE *out = open_memstream(&text, &bytes);

	*records = 0;
	rig->pages = 0;
	rig_good(reader_open_shared(
		     &reader, writer_db(rig->writer), rig->journal, &err),
	    &err);
	if (rig->examined_max > 0)
		reader->examined_max = rig->examined_max;
	while (!last) {
		struct wire_header header = { .type = WIRE_PAGE };
		struct wire_cursor walk;
		struct wire_writer w;
		struct record record;
		struct text got, rest;

		assert_true(++rig->pages < RIG_PAGES_MAX);
		wire_writer_init(&w, page, sizeof(page));
		last = rig_page(reader, what, &query, &w);
		header.records = w.records;
		header.body_bytes = (uint32_t)w.bytes;
		assert_int_equal(
		    wire_page_body(&header,
			(struct text){ (const char *)page, (uint32_t)w.bytes },
			&room, &got, &rest),
		    WIRE_OK);
		assert_false(!last && got.bytes == query.cursor.bytes &&
			     memcmp(got.at, cursor, got.bytes) == 0);
		memcpy(cursor, got.at, got.bytes);
		query.cursor = (struct text){ cursor, got.bytes };
		wire_cursor_init(&walk, &header, rest);
		while (wire_next(&walk, &record)) {
			rig_lines(out, &record);
			++*records;
		}
	}
	fclose(out);
	wire_room_clear(&room);
	reader_close(&reader);
	return text;
}

static inline struct wire_query
rig_query(unsigned kinds, uint32_t page_bytes)
{
	return (struct wire_query){ .kinds = kinds,
		.from_ns = TIME_MIN_NS,
		.to_ns = TIME_MAX_NS,
		.page_bytes = page_bytes };
}

/* Everything that a reader can get of a kind. */
static inline char *
rig_all(struct rig *rig, enum record_kind kind)
{
	uint64_t records;

	return rig_read(rig, RIG_SELECT, rig_query(1u << kind, 0), &records);
}

static inline void
assert_lines(char *got, const char *want)
{
	assert_string_equal(got, want);
	free(got);
}

#endif
