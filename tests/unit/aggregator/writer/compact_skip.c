/*
 * compact_skip - tests of an hour whose compaction crashes the program: it is
 * given up, and nothing else is.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/aggregator/pool.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "aggregator/writer/writer_private.h"

enum { HOURS = 4, EVENTS = 50 };

static void
send_events(void)
{
	for (unsigned i = 0; i < HOURS * EVENTS; i++)
		rig_event(&rig, i % 2 ? "node-1" : "node-0",
		    RIG_T0 + i * (KEY_HOUR_NS / EVENTS), "an", "event", NULL);
	rig_send(&rig, 1);
	rig_indexer(&rig);
}

static void
open_store(void)
{
	struct journal_options options = { .map_bytes = INT64_C(4) << 30 };
	struct err err = { 0 };

	rig_good(journal_open(&rig.journal, rig.folder, &options, &err), &err);
	rig_open_indexer(&rig);
}

static void
close_store(void)
{
	writer_close(&rig.writer);
	journal_close(&rig.journal);
}

/* Valgrind would report the intended crash. */
static bool
may_go_wild(void)
{
	const char *variant = getenv("VARIANT");

	return variant == NULL || strcmp(variant, "valgrind") != 0;
}

static void
compact_and_die(void)
{
	struct rlimit none = { 0, 0 };
	struct err err = { 0 };
	bool more = true;

	setrlimit(RLIMIT_CORE, &none);
	/* Restore the default action: a sanitizer installs its own. */
	signal(SIGSEGV, SIG_DFL);
	open_store();
	if (may_go_wild()) {
		/* Damage the first record of the first hour. */
		rig.writer->compact.item =
		    (struct compacted_row_item *)(uintptr_t)64;
		writer_compact(rig.writer, &err);
		_exit(2);
	}
	rig.writer->options.compact_after_ns = 1;
	quarantine_watch();
	while (!rig.writer->compact.busy)
		if (compact_step(rig.writer, &more, &err) != DB_OK)
			_exit(1);
	compact_enter(rig.writer);
	raise(SIGSEGV);
	_exit(2);
}

/* A process that dies while it compacts the first uncompacted hour. */
static void
crash(void)
{
	pid_t child;
	int status;

	close_store();
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		compact_and_die();
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSEGV);
	open_store();
}

static uint64_t
uncompacted(void)
{
	struct writer_status status;

	writer_status(rig.writer, &status);
	return status.uncompacted;
}

static void
compact_now(void)
{
	struct err err = { 0 };

	rig_good(writer_compact(rig.writer, &err), &err);
	rig_verify(&rig);
}

/* The number of hours with records in a table, and the first of them. */
static unsigned
hours_of(unsigned table, int32_t *first)
{
	struct text all = { NULL, 0 }, key, value;
	struct err err = { 0 };
	struct db_cursor *cursor;
	struct key_row_block row_key;
	struct db_txn *txn;
	int32_t last = INT32_MIN;
	unsigned hours = 0;

	rig_good(db_begin(writer_db(rig.writer), false, &txn, &err), &err);
	cursor = db_cursor_open(txn, table);
	for (bool more = db_seek(cursor, all, &key, &value); more;
	     more = db_next(cursor, &key, &value)) {
		assert_true(key_get_row_block(key, &row_key));
		if (hours == 0)
			*first = row_key.hour;
		hours += row_key.hour != last;
		last = row_key.hour;
	}
	db_cursor_close(&cursor);
	db_abort(&txn);
	return hours;
}

static void
the_third_crash_leaves_an_hour_uncompacted(void **state)
{
	char *before;
	int32_t hour = 0;

	send_events();
	before = read_events();
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(uncompacted(), 0);
		crash();
	}
	assert_int_equal(uncompacted(), 1);
	compact_now();
	assert_int_equal(hours_of(TABLES_ROW_BLOCKS, &hour), 1);
	assert_int_equal(hour, key_hour(RIG_T0));
	assert_true(hours_of(TABLES_CHUNKS, &hour) >= HOURS - 1);
	/* It stays so, and affects nothing else. */
	close_store();
	open_store();
	assert_int_equal(uncompacted(), 1);
	compact_now();
	assert_int_equal(hours_of(TABLES_ROW_BLOCKS, &hour), 1);
	assert_same(before, read_events());
}

static void
each_hour_has_its_three_crashes(void **state)
{
	int32_t hour = 0;

	send_events();
	for (unsigned i = 0; i < 6; i++)
		crash();
	assert_int_equal(uncompacted(), 2);
	compact_now();
	assert_int_equal(hours_of(TABLES_ROW_BLOCKS, &hour), 2);
	assert_int_equal(hour, key_hour(RIG_T0));
}

static void
crashes_before_it_was_compacted_are_forgotten(void **state)
{
	char path[128];
	FILE *file;
	int32_t hour = 0;

	send_events();
	crash();
	crash();
	compact_now();
	assert_int_equal(hours_of(TABLES_ROW_BLOCKS, &hour), 0);
	snprintf(path, sizeof(path), "%s/crashed_hour", rig.folder);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fgetc(file), EOF);
	fclose(file);
}

static void
another_version_tries_again(void **state)
{
	struct text word = text_of("uncompacted:"), key, value;
	struct err err = { 0 };
	struct db_cursor *cursor;
	struct db_txn *txn;
	unsigned char copy[64];
	int32_t hour = 0;

	send_events();
	for (unsigned i = 0; i < 3; i++)
		crash();
	assert_int_equal(uncompacted(), 1);
	rig_good(db_begin(writer_db(rig.writer), true, &txn, &err), &err);
	cursor = db_cursor_open(txn, TABLES_META);
	assert_true(db_seek(cursor, word, &key, &value));
	assert_int_equal(key.bytes, word.bytes + KEY_HOUR_BYTES);
	memcpy(copy, key.at, key.bytes);
	db_cursor_close(&cursor);
	db_put(txn, TABLES_META, (struct text){ (const char *)copy, key.bytes },
	    text_of("an older one"));
	assert_int_equal(db_commit(&txn, &err), DB_OK);
	close_store();
	open_store();
	assert_int_equal(uncompacted(), 0);
	compact_now();
	assert_int_equal(hours_of(TABLES_ROW_BLOCKS, &hour), 0);
}

/* The file may contain anything. */
static void
a_note_without_a_valid_hour_is_ignored(void **state)
{
	static const uint64_t numbers[] = { UINT64_MAX, 1, UINT64_C(1) << 63,
		0x7fffffffffffffff };
	int32_t hour = 0;

	send_events();
	for (unsigned i = 0; i < 4; i++) {
		const uint64_t note[4] = { UINT64_C(0x3144454853415243),
			numbers[i], numbers[i], 3 };
		char path[128];
		FILE *file;

		close_store();
		snprintf(path, sizeof(path), "%s/crashed_hour", rig.folder);
		file = fopen(path, "w");
		assert_non_null(file);
		assert_int_equal(fwrite(note, sizeof(note), 1, file), 1);
		fclose(file);
		open_store();
	}
	compact_now();
	assert_int_equal(hours_of(TABLES_ROW_BLOCKS, &hour), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(the_third_crash_leaves_an_hour_uncompacted),
		CASE(each_hour_has_its_three_crashes),
		CASE(crashes_before_it_was_compacted_are_forgotten),
		CASE(another_version_tries_again),
		CASE(a_note_without_a_valid_hour_is_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
