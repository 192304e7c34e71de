/*
 * reader - tests of aggregator/query/reader.h: pages, queries, statistics.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/db/source.h"
#include "tests/unit/aggregator/pool.h"

static void
pages_of_any_size_give_the_same(void **state)
{
	static const enum record_kind kinds[] = { RECORD_EVENT, RECORD_PHASE };
	uint64_t random = check_seed(), records, again;
	unsigned i, size;

	make_pool(&random, 10, 20);
	shuffle(&random);
	take_in(&random, true);
	for (i = 0; i < 2; i++) {
		char *whole = rig_read(
		    &rig, RIG_SELECT, rig_query(1u << kinds[i], 0), &records);

		for (size = 1; size < 100000; size = 5 * size + 77) {
			char *pages = rig_read(&rig, RIG_SELECT,
			    rig_query(1u << kinds[i], size), &again);

			assert_int_equal(records, again);
			assert_string_equal(whole, pages);
			free(pages);
		}
		free(whole);
	}
}

/* A query that finds nothing must not hold a snapshot or the query server. */
static void
pages_that_end_early_give_the_same(void **state)
{
	static const enum record_kind kinds[] = { RECORD_EVENT, RECORD_PHASE };
	static const char *const nodes[] = { "", "*1", "none*" };
	uint64_t random = check_seed(), records;
	unsigned i, j, examined_max;

	make_pool(&random, 12, 20);
	shuffle(&random);
	take_in(&random, true);
	for (i = 0; i < 6; i++) {
		struct wire_query query = rig_query(1u << kinds[i % 2], 0);
		char *whole, *early;

		query.node = text_of(nodes[i / 2]);
		query.from_ns = RIG_T0 + NS_PER_SECOND;
		rig.examined_max = 0;
		whole = rig_read(&rig, RIG_SELECT, query, &records);
		for (examined_max = 1; examined_max < 1000;
		     examined_max = 5 * examined_max + 2) {
			rig.examined_max = examined_max;
			early = rig_read(&rig, RIG_SELECT, query, &records);
			assert_string_equal(whole, early);
			free(early);
		}
		free(whole);
	}
	for (j = 0; j < 4; j++) {
		enum rig_what what = j == 1 ? RIG_STATS_BY_NODE : RIG_STATS;
		/* Context: the names of nodes. */
		struct wire_query query = rig_query(
		    1u << (j < 2 ? RECORD_ENTITY : RECORD_CONTEXT), 0);

		query.node = text_of(j == 3 ? "*1,*2" : "");

		rig.examined_max = 0;
		char *whole = rig_read(&rig, what, query, &records);

		rig.examined_max = 1;
		assert_same(whole, rig_read(&rig, what, query, &records));
	}
}

static void
an_empty_page_need_not_be_the_last(void **state)
{
	struct wire_query query = rig_query(1u << RECORD_EVENT, 0);
	unsigned char page[4096];
	struct reader *reader;
	struct wire_writer w;
	struct err err = { 0 };
	unsigned i;

	for (i = 0; i < 100; i++)
		rig_event(&rig, "node-1", RIG_T0 + i, "prep", "start", NULL);
	rig_send(&rig, 0);
	rig_indexer(&rig);
	rig_good(reader_open_shared(
		     &reader, writer_db(rig.writer), rig.journal, &err),
	    &err);
	reader->examined_max = 10;
	query.name = text_of("other:*");
	wire_writer_init(&w, page, sizeof(page));
	assert_false(rig_page(reader, RIG_SELECT, &query, &w));
	assert_int_equal(w.records, 0);
	reader_close(&reader);
}

/* Hours of which nothing matches: each counts. */
static void
a_page_reads_some_hours(void **state)
{
	struct wire_query query = rig_query(1u << RECORD_EVENT, 0);
	enum { HOURS = PAGE_EXAMINED_MAX / PAGE_EXAMINED_HOUR + 10 };
	unsigned char page[4096];
	struct reader *reader;
	struct wire_writer w;
	struct err err = { 0 };
	unsigned i;

	for (i = 0; i < HOURS; i++)
		rig_event(&rig, "node-1", RIG_T0 + i * KEY_HOUR_NS, "prep",
		    "start", NULL);
	rig_send(&rig, 0);
	rig_indexer(&rig);
	rig_good(reader_open_shared(
		     &reader, writer_db(rig.writer), rig.journal, &err),
	    &err);
	query.name = text_of("other:*");
	wire_writer_init(&w, page, sizeof(page));
	assert_false(rig_page(reader, RIG_SELECT, &query, &w));
	assert_int_equal(w.records, 0);
	reader_close(&reader);
}

/* ---- pages ---- */

/* The hours of kind `kind`, from that of RIG_T0 on. */
static struct absent_hour
an_hour(int hour)
{
	return (struct absent_hour){ .partition = 1,
		.kind = RECORD_EVENT,
		.hour = key_hour(RIG_T0) + hour };
}

/* Make a page from the cursor of `query`, which gets that of the next one;
 * returns how many records it has. */
static unsigned
next_page(struct reader *reader, struct wire_query *query, bool *last)
{
	static unsigned char page[1 << 16];
	static char cursor[WIRE_CURSOR_BYTES_MAX];
	struct wire_header header = { .type = WIRE_PAGE };
	struct wire_room room = { .at = NULL };
	struct wire_writer w;
	struct text got, rest;

	wire_writer_init(&w, page, sizeof(page));
	*last = rig_page(reader, RIG_SELECT, query, &w);
	header.records = w.records;
	header.body_bytes = (uint32_t)w.bytes;
	assert_int_equal(
	    wire_page_body(&header,
		(struct text){ (const char *)page, (uint32_t)w.bytes }, &room,
		&got, &rest),
	    WIRE_OK);
	memcpy(cursor, got.at, got.bytes);
	query->cursor = (struct text){ cursor, got.bytes };
	wire_room_clear(&room);
	return w.records;
}

/* ---- rows that are made ---- */

/* Gives the rows of a store one by one, as a source would make them. */
struct forward {
	struct db *tables;
	struct db_txn *txn; /* NULL: no transaction */
	bool is_broken;
	uint32_t key_bytes; /* of every row; 0: those of the store */
};

static int
forward_row(void *arg, unsigned table, enum db_source_place place,
    struct text key, struct text *found, struct text *value, struct err *err)
{
	struct forward *forward = arg;
	struct db_cursor *cursor;
	bool has;

	if (forward->is_broken)
		return err_set(err, "nothing is made");
	if (forward->key_bytes > 0) {
		static const char long_key[2 * DB_KEY_BYTES_MAX];

		*found = (struct text){ long_key, forward->key_bytes };
		*value = text_of("");
		return 1;
	}
	if (forward->txn == NULL)
		rig_good(
		    db_begin(forward->tables, false, &forward->txn, err), err);
	cursor = db_cursor_open(forward->txn, table);
	if (place == DB_SOURCE_LAST)
		has = db_last(cursor, found, value);
	else
		has = db_seek(cursor, key, found, value);
	if (place == DB_SOURCE_AT)
		has = has && text_equal(*found, key);
	if (place == DB_SOURCE_AFTER && has && text_equal(*found, key))
		has = db_next(cursor, found, value);
	if (place == DB_SOURCE_BEFORE)
		has = has ? db_prev(cursor, found, value)
			  : db_last(cursor, found, value);
	db_cursor_close(&cursor);
	return has;
}

static void
forward_end(void *arg)
{
	struct forward *forward = arg;

	db_abort(&forward->txn);
}

static int
begin_nothing(void *arg, const struct wire_header *header,
    const struct wire_query *query, struct err *err)
{
	return 0;
}

static void
close_nothing(void *arg)
{
}

/* Every page of every kind; when the source fails, its sentence is that of the
 * page. */
static void
made_rows_answer_as_those_of_a_store(void **state)
{
	static const struct reader_origin origin = { begin_nothing, NULL,
		close_nothing };
	static unsigned char a[1 << 16], b[1 << 16];
	struct forward forward = { .tables = writer_db(rig.writer) };
	const struct db_source source = { forward_row, forward_end, &forward };
	struct db *made = db_open_source(&source);
	struct reader *reader = reader_open_made(made, &origin, NULL), *store;
	const struct wire_header header = { .type = WIRE_SELECT,
		.partition = text_of(RIG_PARTITION) };
	struct wire_query all = rig_query(UINT32_MAX, 0);
	struct wire_writer w, v;
	struct err err = { 0 };
	bool last;

	for (int i = 0; i < 50; i++)
		rig_event(&rig, i % 2 ? "node-1" : "node-2",
		    RIG_T0 + i * KEY_HOUR_NS / 7, "prep",
		    i % 3 ? "start" : "end", NULL);
	rig_send(&rig, 0);
	rig_indexer(&rig);
	rig_good(reader_open_shared(
		     &store, writer_db(rig.writer), rig.journal, &err),
	    &err);
	wire_writer_init(&w, a, sizeof(a));
	wire_writer_init(&v, b, sizeof(b));
	rig_good(reader_answer(store, &header, &all, &w, &last, &err), &err);
	assert_true(last && w.records >= 50);
	rig_good(reader_answer(reader, &header, &all, &v, &last, &err), &err);
	assert_true(last);
	assert_int_equal(w.bytes, v.bytes);
	assert_memory_equal(a, b, w.bytes);
	forward.is_broken = true;
	wire_writer_init(&v, b, sizeof(b));
	assert_int_equal(
	    reader_answer(reader, &header, &all, &v, &last, &err), -1);
	assert_string_equal(err.text, "nothing is made");
	forward.is_broken = false;
	forward.key_bytes = 2 * DB_KEY_BYTES_MAX;
	wire_writer_init(&v, b, sizeof(b));
	assert_int_equal(
	    reader_answer(reader, &header, &all, &v, &last, &err), -1);
	assert_non_null(strstr(err.text, "a row has a key of"));
	reader_close(&store);
	reader_close(&reader);
	db_close(&made);
}

/* ---- a store whose older hours are in the archive ---- */

/* Events in hours 0 and 5, and everything before hour 3 was deleted.  Of a
 * question about events and spans first the events up to hour 3 are those of
 * the archive, then come the events from hour 3 on, then the spans of the
 * archive up to hour 3. */
static void
what_was_deleted_is_a_question_to_the_archive(void **state)
{
	struct wire_query query =
	    rig_query(1u << RECORD_EVENT | 1u << RECORD_SPAN, 0);
	const int64_t cut_ns = (int64_t)an_hour(3).hour * KEY_HOUR_NS;
	static unsigned char page[4096];
	struct wire_query asked;
	struct reader *reader;
	struct wire_writer before, w;
	struct err err = { 0 };
	struct db_txn *txn;
	bool last;

	for (int i = 0; i < 2; i++)
		rig_event(&rig, "node-1", RIG_T0 + i * 5 * KEY_HOUR_NS, "prep",
		    "start", NULL);
	rig_send(&rig, 0);
	rig_indexer(&rig);
	rig_good(db_begin(writer_db(rig.writer), true, &txn, &err), &err);
	for (unsigned rollup = 0; rollup < 3; rollup++)
		tables_put_cut(txn, rollup, an_hour(3).hour);
	assert_int_equal(db_commit(&txn, &err), DB_OK);
	rig_good(reader_open_shared(
		     &reader, writer_db(rig.writer), rig.journal, &err),
	    &err);
	reader_of_retained(reader);

	assert_int_equal(next_page(reader, &query, &last), 0);
	assert_false(last);
	assert_int_equal(reader_absent(reader)->first.kind, RECORD_EVENT);
	query.cursor.bytes = 0;
	asked = reader_ask_archive(reader, &query);
	assert_int_equal(asked.kinds, 1u << RECORD_EVENT);
	assert_int_equal(asked.to_ns, cut_ns);
	assert_int_equal(asked.cursor.bytes, 0);

	/* The archive's page was empty, and the last one. */
	wire_writer_init(&w, page, sizeof(page));
	before = w;
	wire_put_page_cursor(&w, query.cursor);
	reader_go_on(reader, &before, &w);
	query.cursor =
	    (struct text){ (const char *)page + 2, WIRE_CURSOR_BYTES_MAX };
	assert_int_equal(next_page(reader, &query, &last), 1);
	assert_false(last);
	assert_int_equal(next_page(reader, &query, &last), 0);
	assert_int_equal(reader_absent(reader)->first.kind, RECORD_SPAN);
	asked = reader_ask_archive(reader, &query);
	assert_int_equal(asked.kinds, 1u << RECORD_SPAN);
	assert_int_equal(asked.to_ns, cut_ns);
	assert_true(asked.cursor.bytes == 0 ||
		    page_cursor_is_of(asked.cursor, RECORD_SPAN));

	/* What begins later is here. */
	query = rig_query(1u << RECORD_EVENT, 0);
	query.from_ns = cut_ns;
	assert_int_equal(next_page(reader, &query, &last), 1);
	assert_true(last);
	reader_close(&reader);
}

static bool
is_wanted(const struct event *event, const struct wire_query *query)
{
	char name[64];

	snprintf(name, sizeof(name), "%s:%s", event->source, event->name);
	return event->time_ns >= query->from_ns &&
	       event->time_ns < query->to_ns &&
	       text_match(query->node, text_of(event->node)) &&
	       text_match(query->name, text_of(name));
}

static void
a_reader_gets_what_it_asks_for(void **state)
{
	static const char *const nodes[] = { "*", "node-1", "node-1?", "*3",
		"none" };
	static const char *const names[] = { "*", "pool:*", "prep:start",
		"pool:pull-*", "x" };
	uint64_t random = check_seed(), records;
	unsigned i, j;

	make_pool(&random, 14, 12);
	shuffle(&random);
	take_in(&random, true);
	for (i = 0; i < 50; i++) {
		struct wire_query query = rig_query(1u << RECORD_EVENT,
		    (uint32_t)(check_random(&random) % 3000));
		uint64_t want = 0;

		query.node = text_of(nodes[check_random(&random) % 5]);
		query.name = text_of(names[check_random(&random) % 5]);
		query.from_ns = events[check_random(&random) % count].time_ns;
		query.to_ns = events[check_random(&random) % count].time_ns;
		for (j = 0; j < count; j++)
			want += is_wanted(&events[j], &query);
		free(rig_read(&rig, RIG_SELECT, query, &records));
		assert_int_equal(records, want);
	}
}

/* The lines of `all` whose second word is a node that matches `pattern`, in
 * their order; a new string. */
static char *
lines_of_node(const char *all, const char *pattern)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	while (*all != '\0') {
		const char *end = strchr(all, '\n') + 1;
		const char *node = strchr(all, ' ') + 1;
		struct text name = { node,
			(uint32_t)(strchr(node, ' ') - node) };

		if (text_match(text_of(pattern), name))
			fwrite(all, 1, (size_t)(end - all), out);
		all = end;
	}
	fclose(out);
	return text;
}

static void
phases_of_some_nodes_are_those_of_all(void **state)
{
	static const char *const nodes[] = { "*", "node-1", "node-1?", "*3",
		"node-13", "none", "job1", "?" };
	uint64_t random = check_seed(), records;
	unsigned i, what;

	make_pool(&random, 14, 30);
	shuffle(&random);
	take_in(&random, true);
	for (what = 0; what < 2; what++) {
		enum rig_what ask = what ? RIG_STATS_BY_NODE : RIG_SELECT;
		struct wire_query query = rig_query(1u << RECORD_PHASE, 0);
		char *all = rig_read(&rig, ask, query, &records);

		assert_true(records > 100 - 50 * what);
		for (i = 0; i < sizeof(nodes) / sizeof(*nodes); i++) {
			query.node = text_of(nodes[i]);
			query.page_bytes =
			    (uint32_t)(check_random(&random) % 3000);
			assert_same(lines_of_node(all, nodes[i]),
			    rig_read(&rig, ask, query, &records));
		}
		free(all);
	}
}

static void
by_node_pages_of_any_size_give_the_same(void **state)
{
	uint64_t random = check_seed(), records, again;
	unsigned size;
	char *whole;

	make_pool(&random, 30, 10);
	take_in(&random, false);
	whole = rig_read(&rig, RIG_STATS_BY_NODE,
	    rig_query(1u << RECORD_ENTITY, 0), &records);
	for (size = 1; size < 100000; size = 5 * size + 77) {
		char *pages = rig_read(&rig, RIG_STATS_BY_NODE,
		    rig_query(1u << RECORD_ENTITY, size), &again);

		assert_int_equal(records, again);
		assert_string_equal(whole, pages);
		free(pages);
	}
	free(whole);
}

static void
by_node_adds_up_to_the_whole(void **state)
{
	uint64_t random = check_seed(), records;
	double all = 0;
	char *stats, *nodes, *at;

	make_pool(&random, 12, 20);
	take_in(&random, false);
	stats = read_stats();
	nodes = rig_read(&rig, RIG_STATS_BY_NODE,
	    rig_query(1u << RECORD_ENTITY, 1000), &records);
	for (at = nodes; (at = strstr(at, "|m:pull|")) != NULL; at++)
		all += strtod(strstr(at, " count=") + 7, NULL);
	assert_true(all > 0 && all == property(stats, "m:pull", "count"));
	free(stats);
	free(nodes);
}

static void
entities_with_one_long_beginning_fill_many_pages(void **state)
{
	static const char *const pairs[] = { "a", "1", NULL };
	char id[128], *whole, *pages;
	uint64_t records, again;
	unsigned i;

	for (i = 0; i < 50; i++) {
		snprintf(id, sizeof(id),
		    "a beginning of more bytes than a "
		    "cursor has room for, %u",
		    i);
		put_entity(id, pairs);
	}
	rig_send(&rig, 0);
	rig_indexer(&rig);
	whole = rig_read(
	    &rig, RIG_SELECT, rig_query(1u << RECORD_ENTITY, 0), &records);
	pages = rig_read(
	    &rig, RIG_SELECT, rig_query(1u << RECORD_ENTITY, 1), &again);
	assert_int_equal(records, 50);
	assert_string_equal(whole, pages);
	free(pages);
	rig.examined_max = 3;
	pages = rig_read(
	    &rig, RIG_SELECT, rig_query(1u << RECORD_ENTITY, 0), &again);
	assert_same(whole, pages);
}

static void
spans_of_some_tracks_are_those_of_all(void **state)
{
	static const char *const tracks[] = { "load/0", "load/1", "save/0" };
	static const struct {
		const char *columns;
		unsigned tracks;
	} asked[] = { { "", 3 }, { "load/1", 1 }, { "load/?", 2 }, { "*/0", 2 },
		{ "load", 0 } };
	const unsigned rounds = 40; /* on both nodes, over four hours */
	uint64_t records;

	for (unsigned i = 0; i < rounds * 2 * 3; i++) {
		int64_t begin_ns =
		    RIG_T0 + (int64_t)(i / 6) * 360 * NS_PER_SECOND;
		const struct record span = { .kind = RECORD_SPAN,
			.time_ns = begin_ns,
			.has_time = true,
			.end_ns = begin_ns + 5,
			.has_end = true,
			.source = text_of(tracks[i % 3]),
			.name = text_of("io"),
			.key = text_of("load") };

		rig_record(&rig, i / 3 % 2 ? "1" : "0", &span);
	}
	rig_send(&rig, 0);
	rig_indexer(&rig);
	for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++)
		for (uint32_t size = 0; size < 2000; size = 3 * size + 100) {
			struct wire_query query =
			    rig_query(1u << RECORD_SPAN, size);

			query.columns = text_of(asked[i].columns);
			free(rig_read(&rig, RIG_SELECT, query, &records));
			assert_int_equal(records, asked[i].tracks * 2 * rounds);
			query.node = text_of("1");
			free(rig_read(&rig, RIG_SELECT, query, &records));
			assert_int_equal(records, asked[i].tracks * rounds);
		}
}

static void
readers_read_while_the_indexer_writes(void **state)
{
	uint64_t random = check_seed(), records = 0, before = 0;
	struct err err = { 0 };
	unsigned i, sent = 0;

	make_pool(&random, 20, 40);
	rig.options.pause_ns = -1;
	writer_close(&rig.writer);
	rig_open_indexer(&rig);
	rig_good(writer_start(rig.writer, NULL, &err), &err);
	for (i = 0; i < count; i++) {
		rig_event(&rig, events[i].node, events[i].time_ns,
		    events[i].source, events[i].name, NULL);
		if (i % 50 != 49)
			continue;
		rig_send(&rig, 0);
		rig_flush(&rig);
		writer_wake(rig.writer);
		sent = i + 1;
		if (i % 500 != 499)
			continue;
		/* A page is a snapshot: it never has fewer than the page
		 * before. */
		free(rig_read(&rig, RIG_SELECT,
		    rig_query(1u << RECORD_EVENT, 0), &records));
		assert_true(records >= before && records <= sent);
		before = records;
	}
	writer_stop(rig.writer);
	rig_indexer(&rig);
	free(rig_read(
	    &rig, RIG_SELECT, rig_query(1u << RECORD_EVENT, 0), &records));
	assert_int_equal(records, sent);
	rig_verify(&rig);
}

static uint64_t
lag_of_reader(void)
{
	struct reader *reader;
	struct err err = { 0 };
	uint64_t batches;

	rig_good(reader_open_shared(
		     &reader, writer_db(rig.writer), rig.journal, &err),
	    &err);
	rig_good(reader_lag(reader, &batches, &err), &err);
	reader_close(&reader);
	return batches;
}

static void
the_indexing_lag_is_reported(void **state)
{
	unsigned i;

	assert_int_equal(lag_of_reader(), 0);
	for (i = 0; i < 3; i++) {
		rig_event(&rig, "node-1", RIG_T0 + i, "prep", "start", NULL);
		rig_send(&rig, 1);
	}
	rig_flush(&rig);
	assert_int_equal(lag_of_reader(), 3);
	rig_indexer(&rig);
	assert_int_equal(lag_of_reader(), 0);
}

/* How many entities the status has under this name, and the last entry of the
 * last one. */
static uint64_t
status_of(const char *name, long *last_entry)
{
	struct wire_query query = rig_query(0, 0);
	uint64_t records;
	const char *at;
	char *lines;

	query.name = text_of(name);
	lines = rig_read(&rig, RIG_STATUS, query, &records);
	at = strstr(lines, " last_entry=");
	*last_entry = at != NULL ? atol(at + strlen(" last_entry=")) : -1;
	free(lines);
	return records;
}

/* Say that a record of an entry which is not indexed yet is stored. */
static void
verification_reports_a_wrong_last_entry(void **state)
{
	struct db *db = writer_db(rig.writer);
	struct partition_counts counts;
	struct err err = { 0 };
	unsigned wrong = 0;
	struct db_txn *txn;

	rig_event(&rig, "node-1", RIG_T0, "prep", "start", NULL);
	rig_send(&rig, 1);
	rig_indexer(&rig);
	rig_verify(&rig);
	rig_good(db_begin(db, true, &txn, &err), &err);
	tables_get_counts(txn, 1, &counts);
	counts.last_entry++;
	tables_put_counts(txn, 1, &counts);
	assert_int_equal(db_commit(&txn, &err), DB_OK);
	assert_int_equal(verify_tables(db, rig_count, &wrong, &err), 1);
	assert_int_equal(wrong, 1);
}

static void
status_has_what_is_asked_for(void **state)
{
	long last;

	assert_int_equal(status_of("partition:" RIG_PARTITION, &last), 0);
	for (long entry = 1; entry <= 3; entry++) {
		rig_event(
		    &rig, "node-1", RIG_T0 + entry, "prep", "start", NULL);
		rig_send(&rig, 1);
		rig_indexer(&rig);
		assert_int_equal(
		    status_of("partition:" RIG_PARTITION, &last), 1);
		assert_int_equal(last, entry);
	}
	rig_verify(&rig);
	/* The store, its room, and the partition. */
	assert_int_equal(status_of("", &last), 3);
	assert_int_equal(last, 3);
	assert_int_equal(status_of("store:room", &last), 1);
	assert_int_equal(status_of("partition:*", &last), 1);
	assert_int_equal(last, 3);
	assert_int_equal(status_of("store", &last), 1);
	assert_int_equal(last, -1);
	assert_int_equal(status_of("partition:x", &last), 0);
	assert_int_equal(status_of("partition:x*", &last), 0);
	assert_int_equal(status_of("partition:", &last), 0);
	assert_int_equal(status_of("*", &last), 3);
	assert_int_equal(status_of("x", &last), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(pages_of_any_size_give_the_same),
		CASE(pages_that_end_early_give_the_same),
		CASE(an_empty_page_need_not_be_the_last),
		CASE(a_page_reads_some_hours),
		CASE(made_rows_answer_as_those_of_a_store),
		CASE(what_was_deleted_is_a_question_to_the_archive),
		CASE(a_reader_gets_what_it_asks_for),
		CASE(phases_of_some_nodes_are_those_of_all),
		CASE(by_node_pages_of_any_size_give_the_same),
		CASE(by_node_adds_up_to_the_whole),
		CASE(entities_with_one_long_beginning_fill_many_pages),
		CASE(spans_of_some_tracks_are_those_of_all),
		CASE(readers_read_while_the_indexer_writes),
		CASE(the_indexing_lag_is_reported),
		CASE(status_has_what_is_asked_for),
		CASE(verification_reports_a_wrong_last_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
