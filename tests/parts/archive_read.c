/*
 * archive_read URL PASSWORD STORE PARTITION MIDDLE_NS [raw] - ask a store and
 * an archive the same questions about a partition: every page must have the
 * same bytes.  Cursors may differ where what a page has passed over was
 * compacted; raw: nothing is asked about buckets, of which a store that is not
 * compacted has other last digits.  PASSWORD is a file, or "".  Prints how many
 * questions and pages were compared and how many records they had; of the first
 * that differs which one it was.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/read/read.h"
#include "aggregator/query/reader.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

struct judge {
	struct reader *store, *archive;
	const char *partition;
	unsigned char *a, *b;
	uint64_t questions, pages, records, cursors;
	int64_t store_ns, archive_ns;
};

static void
stop(const struct err *err)
{
	fprintf(stderr, "%s\n", err->text);
	exit(1);
}

/* Returns the rest of the page. */
static struct text
take_cursor(const struct wire_writer *w,
    char room[static WIRE_CURSOR_BYTES_MAX], struct text *cursor)
{
	struct wire_header header = { .type = WIRE_PAGE,
		.records = w->records,
		.body_bytes = (uint32_t)w->bytes };
	const struct text body = { (const char *)w->at, (uint32_t)w->bytes };
	static struct wire_room wide;
	struct text at, rest;

	if (wire_page_body(&header, body, &wide, &at, &rest) != WIRE_OK)
		exit(1);
	memcpy(room, at.at, at.bytes);
	*cursor = (struct text){ room, at.bytes };
	return (struct text){ (const char *)w->at + w->bytes - rest.bytes,
		rest.bytes };
}

static int64_t
answer(struct reader *reader, const struct wire_header *header,
    const struct wire_query *query, struct wire_writer *w, bool *last)
{
	int64_t began_ns = clock_monotonic_ns();
	struct err err = { .text = "" };

	if (reader_answer(reader, header, query, w, last, &err) != 0)
		stop(&err);
	return clock_monotonic_ns() - began_ns;
}

/* The first record that differs. */
static void
show(const struct wire_writer *a, const struct wire_writer *b)
{
	const struct wire_writer *of[2] = { a, b };
	struct wire_room room[2] = { { .at = NULL }, { .at = NULL } };
	struct wire_cursor walk[2];
	struct record record[2];
	struct text at, rest;

	for (int i = 0; i < 2; i++) {
		struct wire_header header = { .type = WIRE_PAGE,
			.records = of[i]->records,
			.body_bytes = (uint32_t)of[i]->bytes };

		if (wire_page_body(&header,
			(struct text){
			    (const char *)of[i]->at, header.body_bytes },
			&room[i], &at, &rest) != WIRE_OK)
			return;
		wire_cursor_init(&walk[i], &header, rest);
	}
	for (unsigned n = 0;; n++) {
		bool has[2] = { wire_next(&walk[0], &record[0]),
			wire_next(&walk[1], &record[1]) };

		for (int i = 0; i < 2; i++)
			if (!has[0] || !has[1] ||
			    record[0].time_ns != record[1].time_ns ||
			    record[0].end_ns != record[1].end_ns ||
			    record[0].id.seq != record[1].id.seq ||
			    record[0].id.index != record[1].id.index ||
			    record[0].attributes != record[1].attributes ||
			    !text_equal(record[0].node, record[1].node) ||
			    !text_equal(record[0].pairs, record[1].pairs) ||
			    i > 2)
				printf("%s record %u: %s node %.*s source "
				       "%.*s name %.*s time %" PRId64
				       " end %" PRId64 " seq %" PRIu64
				       " index %u attributes %u\n",
				    i == 0 ? "store" : "archive", n,
				    has[i] ? "" : "none",
				    (int)record[i].node.bytes,
				    record[i].node.at,
				    (int)record[i].source.bytes,
				    record[i].source.at,
				    (int)record[i].name.bytes,
				    record[i].name.at, record[i].time_ns,
				    record[i].end_ns, record[i].id.seq,
				    record[i].id.index, record[i].attributes);
		if (!has[0] || !has[1])
			return;
	}
}

static void
ask(struct judge *judge, uint8_t type, uint8_t flags, struct wire_query query,
    const char *name)
{
	const struct wire_header header = { .type = type,
		.flags = flags,
		.partition = text_of(judge->partition) };
	char cursor[WIRE_CURSOR_BYTES_MAX], cursor_b[WIRE_CURSOR_BYTES_MAX];
	struct wire_query query_b = query;
	bool last = false, last_b;

	judge->questions++;
	while (!last) {
		struct wire_writer w, v;
		struct text rest, rest_b;

		wire_writer_init(&w, judge->a, WIRE_BODY_BYTES_MAX);
		wire_writer_init(&v, judge->b, WIRE_BODY_BYTES_MAX);
		judge->store_ns +=
		    answer(judge->store, &header, &query, &w, &last);
		judge->archive_ns +=
		    answer(judge->archive, &header, &query_b, &v, &last_b);
		judge->pages++;
		judge->records += w.records;
		rest = take_cursor(&w, cursor, &query.cursor);
		rest_b = take_cursor(&v, cursor_b, &query_b.cursor);
		judge->cursors += !text_equal(query.cursor, query_b.cursor);
		if (last != last_b || !text_equal(rest, rest_b)) {
			printf("%s, %s: page %" PRIu64
			       " differs: %u and %u records, %zu and %zu "
			       "bytes\n",
			    judge->partition, name, judge->pages, w.records,
			    v.records, w.bytes, v.bytes);
			for (size_t i = 0; i < w.bytes && i < v.bytes; i++)
				if (w.at[i] != v.at[i]) {
					printf("byte %zu: %02x %02x\n", i,
					    w.at[i], v.at[i]);
					if (i > 200)
						break;
				}
			show(&w, &v);
			exit(1);
		}
	}
}

static const struct {
	uint32_t kinds;
	const char *name;
} kinds[] = {
	{ 1u << RECORD_EVENT, "events" },
	{ 1u << RECORD_SAMPLE, "samples" },
	{ 1u << RECORD_SPAN, "spans" },
	{ 1u << RECORD_GAP, "gaps" },
	{ 1u << RECORD_REJECTED, "rejected" },
	{ 1u << RECORD_PHASE, "phases" },
	{ 1u << RECORD_ENTITY, "entities" },
	{ 1u << RECORD_RUN, "test runs" },
	{ 1u << RECORD_EVENT | 1u << RECORD_PHASE, "events and phases" },
};

static const char *const nodes[] = { "", "cn00001", "*1", "n1", "nobody" };
static const char *const patterns[] = { "", "*pull*", "cascade:*", "cpu",
	"testrun:*" };

static void
ask_all(struct judge *judge, int64_t middle_ns, bool is_raw)
{
	const struct wire_query all = { .from_ns = TIME_MIN_NS,
		.to_ns = TIME_MAX_NS };

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		for (unsigned i = 0; i < 40; i++) {
			struct wire_query query = all;

			query.kinds = kinds[k].kinds;
			query.node = text_of(nodes[i % 5]);
			query.name = text_of(patterns[i / 5 % 5]);
			if (i >= 20)
				query.page_bytes = 10000;
			if (i % 3 == 1)
				query.from_ns = middle_ns;
			if (i % 3 == 2)
				query.to_ns = middle_ns;
			ask(judge, WIRE_SELECT,
			    i % 7 == 3   ? WIRE_FLAG_UNPAIRED
			    : i % 7 == 5 ? WIRE_FLAG_OPEN
			    : i % 7 == 6 ? WIRE_FLAG_NEWEST
					 : 0,
			    query, kinds[k].name);
		}
	for (unsigned i = 0; i < 10; i++) {
		struct wire_query query = all;

		query.node = text_of(nodes[i % 5]);
		ask(judge, WIRE_STATS, i < 5 ? 0 : WIRE_FLAG_BY_NODE, query,
		    "statistics of phases");
		query.kinds = 1u << RECORD_RUN;
		ask(judge, WIRE_STATS, 0, query, "groups of test runs");
		query.kinds = 1u << RECORD_CONTEXT;
		ask(judge, WIRE_STATS, 0, query, "nodes");
	}
	for (unsigned i = 0; i < 10 && !is_raw; i++) {
		struct wire_query query = all;

		query.kinds = 1u << RECORD_SAMPLE;
		query.node = text_of(nodes[i % 5]);
		query.step_ns =
		    i < 5 ? 60 * NS_PER_SECOND : 3600 * NS_PER_SECOND;
		ask(judge, WIRE_SELECT, 0, query, "buckets of samples");
	}
}

int
main(int argc, char **argv)
{
	struct archive_read_options options = { CLICKHOUSE_DEFAULT, "to", NULL,
		NULL };
	struct judge judge = { .partition = argc >= 6 ? argv[4] : "" };
	struct err err = { .text = "" };

	if (argc != 6 && argc != 7)
		return 2;
	options.clickhouse.url = argv[1];
	options.clickhouse.password = argv[2][0] != 0 ? argv[2] : NULL;
	judge.a = memory_alloc(WIRE_BODY_BYTES_MAX);
	judge.b = memory_alloc(WIRE_BODY_BYTES_MAX);
	if (reader_open(&judge.store, argv[3], &err) != 0 ||
	    archive_read_open(&judge.archive, &options, &err) != 0)
		stop(&err);
	ask_all(&judge, strtoll(argv[5], NULL, 10), argc == 7);
	printf("%" PRIu64 " questions, %" PRIu64 " pages, %" PRIu64
	       " records are equal (%" PRIu64
	       " cursors are not); store %.3f s, archive %.3f s\n",
	    judge.questions, judge.pages, judge.records, judge.cursors,
	    (double)judge.store_ns / 1e9, (double)judge.archive_ns / 1e9);
	reader_close(&judge.archive);
	reader_close(&judge.store);
	free(judge.a);
	free(judge.b);
	return 0;
}
