/*
 * source_follow - tests of following a journal through
 * exporters/source/source.h: of a store on this machine, and of a listener.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/source.h"

#include "aggregator/query/server.h"
#include "tests/unit/aggregator/query/records/followed.h"

static struct query_server *query_server;
static struct reader *reader;
static char endpoint[96], store[64];
static bool at_listener;

static int
set_up_both(void **state)
{
	struct opt_list listen = { .at = { endpoint }, .count = 1 };
	struct query_server_options options = {
		.listen = &listen, .queue_messages = 4, .generation = 4711
	};
	struct query_server_source source = { .reader = NULL };
	struct err err = { 0 };

	set_up(state);
	snprintf(endpoint, sizeof(endpoint), "ipc://%s/door", rig.folder);
	snprintf(store, sizeof(store), "%s", rig.folder);
	rig_good(reader_open_shared(
		     &reader, writer_db(rig.writer), rig.journal, &err),
	    &err);
	reader->examined_max =
	    7; /* pages of the listener end behind what nobody wants */
	source.reader = reader;
	rig_good(
	    query_server_open(&query_server, &options, &source, &err), &err);
	rig_good(query_server_start(query_server, NULL, &err), &err);
	return 0;
}

static int
tear_down_both(void **state)
{
	query_server_close(&query_server);
	reader_close(&reader);
	return tear_down(state);
}

static struct source *
open_one(void)
{
	const struct source_options options = { .store = store };
	struct source *source;
	struct err err = { 0 };

	rig_good(at_listener ? source_open_endpoint(&source, &options, endpoint,
				   60 * NS_PER_SECOND, &err)
			     : source_open(&source, &options, &err),
	    &err);
	return source;
}

/* ---- an exporter that is killed at any time ---- */

/* What it has sent, and where it goes on. */
static struct {
	char *sent;
	size_t bytes;
	FILE *out;
	uint64_t place;
} exporter;

static void
exporter_begin(uint64_t place)
{
	exporter.sent = NULL;
	exporter.out = open_memstream(&exporter.sent, &exporter.bytes);
	exporter.place = place;
}

/* A life: up to `steps` records; true: it came to the end. */
static bool
exporter_live(uint64_t *random, const struct wire_query *query, unsigned steps)
{
	struct source *source = open_one();
	struct record record;
	struct err err = { 0 };
	char *held = NULL; /* given, and not sent yet */
	size_t bytes = 0;
	FILE *hold = open_memstream(&held, &bytes);
	uint64_t before;
	int rc = 1;

	rig_good(source_follow(source, text_of(partitions[1]), query,
		     exporter.place, &err),
	    &err);
	while (steps-- > 0 && rc > 0) {
		before = source_followed(source);
		rc = source_next(source, &record, &err);
		if (rc < 0)
			fail_msg("%s", err.text);
		if (rc > 0) {
			char *line = line_of(&record, source_entry(source));

			fputs(line, hold);
			free(line);
		}
		assert_true(source_followed(source) >= before);
		if (rc == 0 || (source_followed(source) > before &&
				   check_random(random) % 3 == 0)) {
			fflush(hold);
			fwrite(held, 1, bytes, exporter.out);
			rewind(hold);
			exporter.place = source_followed(source);
		}
	}
	fclose(hold);
	free(held);
	source_close(&source);
	return rc == 0;
}

static void
live_and_die(uint64_t *random, bool listener)
{
	unsigned lives = check_share(30, 10);
	struct wire_query query = any_query(random);
	uint64_t from = check_random(random) % 20;
	char *want;

	at_listener = listener;
	query.page_bytes = (uint32_t)(check_random(random) % 9000);
	send_entries(random, 30);
	exporter_begin(from);
	while (lives-- > 0) {
		exporter_live(
		    random, &query, 1 + (unsigned)(check_random(random) % 100));
		if (check_random(random) % 4 == 0)
			send_entries(random, 10);
	}
	assert_true(exporter_live(random, &query, UINT32_MAX));
	assert_int_equal(exporter.place, entries + 1);
	fclose(exporter.out);
	want = lines_wanted(1, &query, from);
	assert_string_equal(exporter.sent, want);
	free(want);
	free(exporter.sent);
}

static void
an_exporter_that_dies_at_any_time_sends_each_record_once(void **state)
{
	uint64_t random = check_seed();

	for (unsigned i = check_share(8, 3); i > 0; i--)
		live_and_die(&random, i % 3 != 0);
}

static void
what_arrives_later_is_given_when_asked_again(void **state)
{
	struct wire_query query = rig_query(63, 0);
	uint64_t random = check_seed(), from;
	struct record record;
	struct err err = { 0 };

	for (int listener = 0; listener < 2; listener++) {
		struct source *source;
		unsigned count = 0, want = 0;

		at_listener = listener;
		source = open_one();
		send_entries(&random, 20);
		rig_good(source_follow(source, text_of(partitions[0]), &query,
			     UINT64_MAX, &err),
		    &err);
		from = entries + 1;
		assert_int_equal(source_next(source, &record, &err), 0);
		assert_int_equal(source_next(source, &record, &err), 0);
		assert_int_equal(source_followed(source), from);
		send_entries(&random, 20);
		rig_good(source_follow(source, text_of(partitions[0]), &query,
			     source_followed(source), &err),
		    &err);
		while (source_next(source, &record, &err) > 0)
			count++;
		for (unsigned i = 0; i < sents; i++)
			want += sent[i].entry >= from && sent[i].partition == 0;
		assert_int_equal(count, want);
		assert_int_equal(source_followed(source), entries + 1);
		source_close(&source);
	}
}

static void
what_was_purged_is_reported_and_then_not_again(void **state)
{
	struct wire_query query = rig_query(1u << RECORD_SAMPLE, 0);
	uint64_t random = check_seed();
	struct record record;
	struct err err = { 0 };

	send_entries(&random, 40);
	purge_entries(30);
	for (int listener = 0; listener < 2; listener++) {
		struct source *source;

		at_listener = listener;
		source = open_one();
		rig_good(source_follow(
			     source, text_of(partitions[0]), &query, 7, &err),
		    &err);
		assert_int_equal(source_followed(source), 7);
		assert_int_equal(source_next(source, &record, &err), 1);
		assert_int_equal(record.kind, RECORD_GAP);
		assert_true(text_equal(record.source, text_of("batch")));
		assert_true(text_equal(record.name, text_of("purged")));
		assert_int_equal(record.count, 24);
		assert_true(source_followed(source) >= 31);
		while (source_next(source, &record, &err) > 0)
			assert_int_equal(record.kind, RECORD_SAMPLE);
		source_close(&source);
	}
}

static void
a_place_of_another_store_is_refused(void **state)
{
	struct wire_query query = rig_query(63, 0);
	uint64_t random = check_seed();
	struct err err = { 0 };

	send_entries(&random, 10);
	for (int listener = 0; listener < 2; listener++) {
		struct source *source;

		at_listener = listener;
		source = open_one();
		assert_int_equal(source_follow(source, text_of(partitions[0]),
				     &query, 12, &err),
		    -1);
		assert_non_null(
		    strstr(err.text, "ends at entry 11, before entry 12"));
		rig_good(source_follow(
			     source, text_of(partitions[0]), &query, 11, &err),
		    &err);
		assert_true(
		    source_generation(source) ==
		    (listener ? 4711 : journal_generation(rig.journal)));
		source_close(&source);
	}
}

/* Following and asking share the pages. */
static void
what_is_asked_next_has_nothing_of_what_was_followed(void **state)
{
	struct wire_query query = rig_query(1u << RECORD_EVENT, 0);
	uint64_t random = check_seed();
	struct record record;
	struct err err = { 0 };

	send_entries(&random, 60);
	rig_indexer(&rig);
	for (int listener = 0; listener < 2; listener++) {
		struct source *source;
		unsigned count = 0, want = 0;

		at_listener = listener;
		source = open_one();
		query.page_bytes = 500;
		source_clock(source)->choice = CLOCK_RAW;
		rig_good(source_follow(
			     source, text_of(partitions[0]), &query, 0, &err),
		    &err);
		assert_int_equal(source_next(source, &record, &err), 1);
		rig_good(source_select(source, SOURCE_RECORDS,
			     text_of(partitions[0]), &query, &err),
		    &err);
		while (source_next(source, &record, &err) > 0)
			count++;
		for (unsigned i = 0; i < sents; i++)
			want += sent[i].kind == RECORD_EVENT &&
				sent[i].partition == 0;
		assert_int_equal(count, want);
		source_close(&source);
	}
}

#define CASE(name)                                                             \
	cmocka_unit_test_setup_teardown(name, set_up_both, tear_down_both)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(an_exporter_that_dies_at_any_time_sends_each_record_once),
		CASE(what_arrives_later_is_given_when_asked_again),
		CASE(what_was_purged_is_reported_and_then_not_again),
		CASE(a_place_of_another_store_is_refused),
		CASE(what_is_asked_next_has_nothing_of_what_was_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
