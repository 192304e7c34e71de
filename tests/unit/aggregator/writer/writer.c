/*
 * writer - tests of aggregator/writer/writer.h: from the journal to what
 * readers see.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/writer_private.h"
#include "tests/unit/aggregator/pool.h"
#include "tests/unit/scratch.h"

#include <signal.h>
#include <sys/wait.h>

static void
records_can_be_read_after_indexing(void **state)
{
	struct record record;
	struct wire_writer w;
	unsigned char bytes[256];

	rig_event(&rig, "n1", RIG_T0 + 5, "prep", "start", "a=1");
	rig_event(&rig, "n1", RIG_T0 + 5, "prep", "start", NULL);
	wire_writer_init(&w, bytes, sizeof(bytes));
	wire_put_value(&w, &(struct value){ VALUE_INT, { .i = -3 } });
	wire_put_value(&w, &(struct value){ VALUE_FLOAT, { .f = 1.5 } });
	record = (struct record){ .kind = RECORD_SAMPLE,
		.time_ns = RIG_T0 + 7,
		.source = text_of("host.cpu"),
		.values = 2,
		.value_bytes = { (const char *)bytes, (uint32_t)w.bytes } };
	rig_record(&rig, "n2", &record);
	wire_writer_init(&w, bytes, sizeof(bytes));
	wire_put_text_attribute(&w, text_of("k"), text_of("v"));
	record = (struct record){ .kind = RECORD_SPAN,
		.time_ns = RIG_T0 + 8,
		.end_ns = RIG_T0 + 10,
		.source = text_of("load/0"),
		.name = text_of("eval"),
		.key = text_of("cpu"),
		.attributes = 1,
		.pairs = { (const char *)bytes, (uint32_t)w.bytes } };
	rig_record(&rig, "n2", &record);
	record.kind = RECORD_ENTITY;
	record.source = text_of("set");
	record.name = text_of("host.cpu");
	rig_record(&rig, "n2", &record);
	record = (struct record){ .kind = RECORD_GAP,
		.time_ns = RIG_T0,
		.end_ns = RIG_T0 + 9,
		.source = text_of("sample"),
		.name = text_of("full"),
		.count = 12 };
	rig_record(&rig, "n2", &record);
	rig_send(&rig, 3);
	rig_indexer(&rig);
	rig_verify(&rig);
	assert_lines(rig_all(&rig, RECORD_EVENT),
	    "event n1 s3.1.0 1508000000000000005 [prep|start|] 0 "
	    "message='a=1'\n"
	    "event n1 s3.1.1 1508000000000000005 [prep|start|] 0\n");
	assert_lines(rig_all(&rig, RECORD_SAMPLE),
	    "sample n2 s3.1.2 1508000000000000007 [host.cpu||] 0 -3 1.5\n");
	assert_lines(rig_all(&rig, RECORD_SPAN),
	    "span n2 s3.1.3 1508000000000000008..1508000000000000010 "
	    "[load/0|eval|cpu] 0 k='v'\n");
	assert_lines(rig_all(&rig, RECORD_ENTITY),
	    "entity n2 s3.1.4 [set|host.cpu|] 0 k='v'\n");
	assert_lines(rig_all(&rig, RECORD_GAP),
	    "gap n2 s3.1.5 1508000000000000000..1508000000000000009 "
	    "[sample|full|] 12\n");
	assert_lines(rig_all(&rig, RECORD_PHASE),
	    "phase n1 s3.1.0 1508000000000000005 [m|prep|] 0 a='1'\n"
	    "phase n1 s3.1.1 1508000000000000005 [m|prep|] 0\n");
}

static void
the_order_of_arrival_does_not_matter(void **state)
{
	uint64_t random = check_seed();
	char *phases, *stats, *all;

	make_pool(&random, 10, 40);
	qsort(events, count, sizeof(*events), by_time);
	take_in(&random, false);
	phases = read_phases();
	stats = read_stats();
	all = read_events();
	rig_close(&rig);
	rig_open(&rig, model);
	shuffle(&random);
	take_in(&random, true);
	assert_same(phases, read_phases());
	assert_same(stats, read_stats());
	assert_same(all, read_events());
}

static void
a_new_process_continues_where_the_old_one_stopped(void **state)
{
	uint64_t random = check_seed();
	char *phases, *all;
	unsigned i;

	make_pool(&random, 10, 20);
	qsort(events, count, sizeof(*events), by_time);
	take_in(&random, false);
	phases = read_phases();
	all = read_events();
	rig_close(&rig);
	rig_open(&rig, model);
	for (i = 0; i < count; i++) {
		rig_event(&rig, events[i].node, events[i].time_ns,
		    events[i].source, events[i].name,
		    events[i].message[0] ? events[i].message : NULL);
		rig_send(&rig, events[i].session);
		if (check_random(&random) % 100 != 0)
			continue;
		if (check_random(&random) % 2)
			rig_indexer(&rig);
		rig_flush(&rig);
		writer_close(&rig.writer);
		rig_open_indexer(&rig);
	}
	rig_indexer(&rig);
	rig_verify(&rig);
	assert_same(phases, read_phases());
	assert_same(all, read_events());
}

static void
phases_that_never_end_are_all_open(void **state)
{
	char *stats;
	int i;

	for (i = 0; i < 2000; i++) {
		rig_event(&rig, "n", RIG_T0 + i, "pool", "pull-start", "img=a");
		if (i % 100 == 99)
			rig_send(&rig, 0);
	}
	rig_indexer(&rig);
	rig_verify(&rig);
	stats = read_stats();
	assert_true(property(stats, "m:pull", "open_starts") == 2000);
	free(stats);
}

static int
count_lines(const char *text)
{
	int lines = 0;

	for (; *text != '\0'; text++)
		lines += *text == '\n';
	return lines;
}

static void
entities_are_limited_and_existing_ones_can_change(void **state)
{
	static const char *const first[] = { "a", "1", NULL };
	static const char *const second[] = { "b", "2", NULL };
	struct writer_status status;
	char id[16], *all;

	rig.writer->indexer_write.entities_max = 30;
	/* In the middle of a transaction, and over several. */
	for (int i = 0; i < 100; i++) {
		snprintf(id, sizeof(id), "e%03d", i);
		put_entity(id, first);
		if (i % 20 == 19)
			rig_send(&rig, 0);
		if (i % 40 == 39)
			rig_indexer(&rig);
	}
	put_entity("e029", second);
	put_entity("e030", second);
	rig_send(&rig, 0);
	rig_indexer(&rig);
	rig_verify(&rig);
	writer_status(rig.writer, &status);
	assert_int_equal(status.entities_over, 71);
	all = rig_all(&rig, RECORD_ENTITY);
	assert_int_equal(count_lines(all), 30);
	assert_non_null(strstr(all, "[run|e029|] 0 b='2' a='1'"));
	assert_null(strstr(all, "e030"));
	free(all);
}

static void
a_later_entity_replaces_what_it_names(void **state)
{
	static const char *const first[] = { "a", "1", "b", "2", NULL };
	static const char *const second[] = { "b", "3", "c", "4", NULL };

	put_entity("r1", first);
	put_entity("r2", second);
	rig_send(&rig, 0);
	rig_indexer(&rig);
	put_entity("r1", second);
	rig_send(&rig, 0);
	rig_indexer(&rig);
	assert_lines(rig_all(&rig, RECORD_ENTITY),
	    "entity n s0.2.0 [run|r1|] 0 b='3' c='4' a='1'\n"
	    "entity n s0.1.1 [run|r2|] 0 b='3' c='4'\n");
}

static void
an_unreadable_batch_is_stored_as_rejected(void **state)
{
	memcpy(rig.bytes, "\xc1 what is this?", 15);
	rig.batch.bytes = 15;
	rig.batch.records = 1;
	rig_send(&rig, 2);
	rig_event(&rig, "n", RIG_T0, "prep", "start", NULL);
	rig_send(&rig, 2);
	rig_indexer(&rig);
	rig_verify(&rig);
	assert_lines(rig_all(&rig, RECORD_REJECTED),
	    "rejected head s2.1.0 1508000000000000001 "
	    "[|record|"
	    "b6e91a7725f1f665c138a42cd2cd3a9e37315eeb130154b8c17088ec8c49e674] "
	    "15\n");
	assert_lines(rig_all(&rig, RECORD_EVENT),
	    "event n s2.2.0 1508000000000000000 [prep|start|] 0\n");
}

static void
the_third_crash_quarantines_a_batch(void **state)
{
	/* What the signal handler writes: magic, first, last, crashes. */
	const uint64_t note[4] = { UINT64_C(0x3144454853415243), 2, 2, 3 };
	struct writer_status status;
	char path[128];
	FILE *file;
	int i;

	for (i = 0; i < 3; i++) {
		rig_event(&rig, "n", RIG_T0 + i, "prep", "start", NULL);
		rig_send(&rig, 0);
	}
	writer_close(&rig.writer);
	snprintf(path, sizeof(path), "%s/crashed_entry", rig.folder);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(note, sizeof(note), 1, file), 1);
	fclose(file);
	rig_open_indexer(&rig);
	rig_indexer(&rig);
	writer_status(rig.writer, &status);
	assert_int_equal(status.quarantined, 1);
	assert_lines(rig_all(&rig, RECORD_EVENT),
	    "event n s0.1.0 1508000000000000000 [prep|start|] 0\n"
	    "event n s0.3.0 1508000000000000002 [prep|start|] 0\n");
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fgetc(file), EOF);
	fclose(file);
}

static void
the_thread_follows_the_journal(void **state)
{
	struct timespec nap = { 0, 1000000 };
	struct err err = { 0 };
	int i, waits;

	rig_good(writer_start(rig.writer, NULL, &err), &err);
	for (i = 0; i < 5; i++) {
		rig_event(&rig, "n", RIG_T0 + i, "prep", "start", NULL);
		rig_send(&rig, 0);
		rig_flush(&rig);
		writer_wake(rig.writer);
		for (waits = 0; writer_position(rig.writer) < (uint64_t)i + 1;
		     waits++) {
			assert_true(waits < 20000);
			nanosleep(&nap, NULL);
		}
	}
	writer_stop(rig.writer);
	rig_verify(&rig);
}

static void
a_full_store_changes_nothing_and_continues_with_more_space(void **state)
{
	uint64_t random = check_seed();
	struct err err = { 0 };
	uint64_t position;
	char *all, *phases;
	unsigned i;

	make_pool(&random, 20, 60);
	qsort(events, count, sizeof(*events), by_time);
	writer_close(&rig.writer);
	rig.options.map_bytes = 512 << 10;
	rig_open_indexer(&rig);
	for (i = 0; i < count; i++) {
		rig_event(&rig, events[i].node, events[i].time_ns,
		    events[i].source, events[i].name,
		    events[i].message[0] ? events[i].message : NULL);
		if (i % 60 == 59 || i + 1 == count)
			rig_send(&rig, 0);
	}
	rig_flush(&rig);
	assert_int_equal(writer_run(rig.writer, &err), -1);
	assert_true(err.text[0] != '\0');
	/* A transaction also ends after some time; on a busy machine the next
	 * one is smaller and may fit. */
	do {
		position = writer_position(rig.writer);
		assert_int_equal(writer_run(rig.writer, &err), -1);
	} while (writer_position(rig.writer) != position);
	rig_verify(&rig);
	writer_close(&rig.writer);
	rig.options.map_bytes = 0;
	rig_open_indexer(&rig);
	rig_indexer(&rig);
	rig_verify(&rig);
	all = read_events();
	phases = read_phases();
	rig_close(&rig);
	rig_open(&rig, model);
	take_in(&random, false);
	assert_same(all, read_events());
	assert_same(phases, read_phases());
}

/* A process that indexes the journal and is killed at some point. */
static bool
indexer_and_die(int64_t after_ns)
{
	struct timespec nap = { 0, after_ns };
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		struct journal_options options = { .map_bytes = INT64_C(4)
								<< 30 };

		if (journal_open(&rig.journal, rig.folder, &options, NULL) != 0)
			_exit(2);
		rig_open_indexer(&rig);
		_exit(writer_run(rig.writer, NULL) == 0 ? 0 : 2);
	}
	nanosleep(&nap, NULL);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
	return WIFSIGNALED(status);
}

static void
a_killed_indexer_repeats_nothing_and_skips_nothing(void **state)
{
	struct journal_options options = { .map_bytes = INT64_C(4) << 30 };
	uint64_t random = check_seed();
	struct err err = { 0 };
	char *phases, *stats, *all;
	unsigned i, kills = 0;

	make_pool(&random, 40, 60);
	qsort(events, count, sizeof(*events), by_time);
	for (i = 0; i < count; i++) {
		rig_event(&rig, events[i].node, events[i].time_ns,
		    events[i].source, events[i].name,
		    events[i].message[0] ? events[i].message : NULL);
		if (i % 60 == 59 || i + 1 == count)
			rig_send(&rig, i / 60 % SESSIONS);
	}
	rig_flush(&rig);
	writer_close(&rig.writer);
	journal_close(&rig.journal);
	for (i = 0; i < 30; i++) {
		int64_t bound = INT64_C(1) << (19 + check_random(&random) % 6);

		if (!indexer_and_die(
			(int64_t)(check_random(&random) % (uint64_t)bound)))
			break;
		kills++;
	}
	print_message("%u kills\n", kills);
	rig_good(journal_open(&rig.journal, rig.folder, &options, &err), &err);
	rig_open_indexer(&rig);
	rig_indexer(&rig);
	rig_verify(&rig);
	phases = read_phases();
	stats = read_stats();
	all = read_events();
	rig_close(&rig);
	rig_open(&rig, model);
	take_in(&random, false);
	assert_same(phases, read_phases());
	assert_same(stats, read_stats());
	assert_same(all, read_events());
}

static void
every_damaged_batch_is_counted(void **state)
{
	struct writer_status status;
	char path[128], text[32];

	for (int i = 1; i <= 4; i++) {
		snprintf(text, sizeof(text), "spoil-%d-it", i);
		rig_event(&rig, "n1", RIG_T0 + i, "prep", "start", text);
		rig_send(&rig, 3);
	}
	rig_flush(&rig);
	snprintf(path, sizeof(path), "%s/journal/data.mdb", rig.folder);
	assert_true(scratch_flip(path, "spoil-2-it", 10) > 0);
	assert_true(scratch_flip(path, "spoil-3-it", 10) > 0);
	rig_indexer(&rig);
	writer_status(rig.writer, &status);
	assert_int_equal(status.damaged, 2);
	assert_int_equal(status.batches, 2);
	assert_int_equal(status.position, 4);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(records_can_be_read_after_indexing),
		CASE(the_order_of_arrival_does_not_matter),
		CASE(a_new_process_continues_where_the_old_one_stopped),
		CASE(phases_that_never_end_are_all_open),
		CASE(entities_are_limited_and_existing_ones_can_change),
		CASE(a_later_entity_replaces_what_it_names),
		CASE(an_unreadable_batch_is_stored_as_rejected),
		CASE(every_damaged_batch_is_counted),
		CASE(the_third_crash_quarantines_a_batch),
		CASE(the_thread_follows_the_journal),
		CASE(
		    a_full_store_changes_nothing_and_continues_with_more_space),
		CASE(a_killed_indexer_repeats_nothing_and_skips_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
