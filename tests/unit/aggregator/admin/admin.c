/*
 * admin - tests of aggregator/admin/admin.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/aggregator/rig.h"
#include "tests/unit/scratch.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "aggregator/admin/admin.h"
#include "aggregator/db/durable_dir.h"
#include "aggregator/tables/latest.h"
#include "aggregator/tables/tables.h"

enum { BATCHES = 40 };

static struct rig rig;

/* A store with some batches in it, which nobody has open. */
static int
set_up(void **state)
{
	rig_open(&rig, NULL);
	for (int i = 0; i < BATCHES; i++) {
		rig_event(&rig, "n", RIG_T0 + i, "test", "event", "a=1");
		rig_send(&rig, 0);
		rig_indexer(&rig);
	}
	writer_close(&rig.writer);
	journal_close(&rig.journal);
	return 0;
}

static int
tear_down(void **state)
{
	rig_close(&rig);
	return 0;
}

static void
open_again(void)
{
	const struct journal_options options = { .map_bytes = INT64_C(4)
							      << 30 };
	struct err err = { 0 };

	rig_good(journal_open(&rig.journal, rig.folder, &options, &err), &err);
	rig_open_indexer(&rig);
}

/* A process that has the store open, and a snapshot of it, until it is
 * killed. */
static pid_t
hold_open(void)
{
	struct err err = { 0 };
	struct reader *reader;
	struct db_txn *txn;
	struct db *tables;
	char path[DURABLE_DIR_PATH_BYTES], byte = 0;
	static const char *const names[] = { "meta", NULL };
	const struct db_options options = {
		.tables = names, .read_only = true, .format = STORE_FORMAT
	};
	int ready[2];
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	assert_int_equal(durable_dir_path(path, rig.folder, "tables", &err), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (reader_open(&reader, rig.folder, &err) != 0 ||
		    db_open(&tables, path, &options, &err) != 0 ||
		    db_begin(tables, false, &txn, &err) != 0 ||
		    write(ready[1], &byte, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void
let_go(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void
a_compacted_store_holds_the_same(void **state)
{
	struct err err = { 0 };
	uint64_t events;

	rig_good(admin_vacuum(rig.folder, &err), &err);
	open_again();
	assert_int_equal(journal_next(rig.journal), BATCHES + 1);
	free(rig_read(
	    &rig, RIG_SELECT, rig_query(1u << RECORD_EVENT, 0), &events));
	assert_int_equal(events, BATCHES);
}

static void
so_it_does_while_a_reader_has_the_old_one_open(void **state)
{
	struct err err = { 0 };
	uint64_t events;
	pid_t reader;

	/* LMDB chooses by even and odd transactions: try both. */
	for (int i = 0; i < 2; i++) {
		reader = hold_open();
		rig_good(admin_vacuum(rig.folder, &err), &err);
		open_again();
		assert_int_equal(journal_next(rig.journal), BATCHES + 1 + i);
		rig_event(&rig, "n", RIG_T0, "test", "event", "a=1");
		rig_send(&rig, 0);
		rig_indexer(&rig);
		free(rig_read(&rig, RIG_SELECT,
		    rig_query(1u << RECORD_EVENT, 0), &events));
		assert_int_equal(events, BATCHES + 1 + i);
		writer_close(&rig.writer);
		journal_close(&rig.journal);
		let_go(reader);
	}
}

static const char *
beside(char to[static DURABLE_DIR_PATH_BYTES], const char *name)
{
	assert_int_equal(durable_dir_path(to, rig.folder, name, NULL), 0);
	return to;
}

static void
a_backup_has_the_same_rows_and_another_generation(void **state)
{
	const struct journal_options options = { .read_only = true };
	char copy[DURABLE_DIR_PATH_BYTES], path[DURABLE_DIR_PATH_BYTES];
	struct journal *journal;
	struct err err = { 0 };

	rig_good(admin_backup(rig.folder, beside(copy, "copy"), &err), &err);
	assert_int_equal(access(beside(path, "copy/manifest"), F_OK), 0);
	assert_int_equal(
	    access(beside(path, "copy/journal/lock.mdb"), F_OK), -1);
	rig_good(journal_open(&journal, copy, &options, &err), &err);
	open_again();
	assert_int_equal(journal_next(journal), BATCHES + 1);
	assert_int_equal(journal_first(journal), 1);
	assert_true(
	    journal_generation(journal) != journal_generation(rig.journal));
	journal_close(&journal);
}

static void
a_backup_without_room_leaves_nothing(void **state)
{
	char copy[DURABLE_DIR_PATH_BYTES], path[DURABLE_DIR_PATH_BYTES];
	struct rlimit was, small;
	struct err err = { 0 };

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &was);
	/* Enough for the tables, which come first. */
	small = (struct rlimit){ 24576, was.rlim_max };
	setrlimit(RLIMIT_FSIZE, &small);
	assert_int_equal(
	    admin_backup(rig.folder, beside(copy, "copy"), &err), -1);
	setrlimit(RLIMIT_FSIZE, &was);
	assert_non_null(strstr(err.text, "journal.new: File too large"));
	assert_int_equal(access(copy, F_OK), -1);
	assert_int_equal(access(beside(path, "copy.new"), F_OK), -1);
}

static void
a_damaged_position_is_not_taken_for_the_beginning(void **state)
{
	static const char indexed[] = { 'i', 'n', 'd', 'e', 'x', 'e', 'd',
		BATCHES };
	const struct journal_options options = { .read_only = true };
	struct err err = { 0 };
	struct journal *journal;
	char path[DURABLE_DIR_PATH_BYTES];
	struct writer *writer;

	assert_true(scratch_flip(beside(path, "tables/data.mdb"), indexed,
			sizeof(indexed)) > 0);
	rig_good(journal_open(&journal, rig.folder, &options, &err), &err);
	assert_int_equal(
	    writer_open(&writer, rig.folder, journal, &rig.options, &err), -1);
	assert_non_null(strstr(err.text, "damaged"));
	journal_close(&journal);
}

/* ---- verify ---- */

static unsigned reports;
static char reported[256];

static void
report(void *arg, const char *sentence)
{
	reports++;
	snprintf(reported, sizeof(reported), "%s", sentence);
}

/* The row says that the last of its nodes, which nobody has heard of, has a
 * record, too. */
static void
add_a_node(struct db_txn *txn)
{
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_NAMES);
	struct text key, value, all = { NULL, 0 };
	unsigned char copy[LATEST_KEY_BYTES];
	struct buffer row_bytes = { .at = NULL };
	bool more = db_seek(cursor, all, &key, &value);
	uint32_t partition, block;
	struct latest_row row;

	while (more && !latest_get_key(key, &partition, &block))
		more = db_next(cursor, &key, &value);
	assert_true(more);
	assert_int_equal(block, 0);
	assert_true(latest_decode(&row, value));
	db_cursor_close(&cursor);
	row.has |= UINT64_C(1) << (LATEST_NODES - 1);
	row.at[LATEST_NODES - 1] = row.at[0];
	latest_encode(&row, &row_bytes);
	latest_put_key(copy, partition, block);
	db_put(txn, TABLES_NAMES,
	    (struct text){ (const char *)copy, sizeof(copy) },
	    buffer_text(&row_bytes));
	buffer_clear(&row_bytes);
}

static void
the_last_record_of_no_node_is_an_error(void **state)
{
	struct db_options how = { .map_bytes = INT64_C(4) << 30 };
	struct err err = { 0 };
	struct db *tables;
	struct db_txn *txn;

	rig_good(tables_open(&tables, rig.folder, &how, &err), &err);
	assert_int_equal(verify_tables(tables, report, NULL, &err), 0);
	rig_good(db_begin(tables, true, &txn, &err), &err);
	add_a_node(txn);
	assert_int_equal(db_commit(&txn, &err), DB_OK);
	assert_int_equal(verify_tables(tables, report, NULL, &err), 1);
	db_close(&tables);
	assert_int_equal(reports, 1);
	assert_non_null(
	    strstr(reported, "row of the last records of nodes from 0 on"));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_compacted_store_holds_the_same),
		CASE(so_it_does_while_a_reader_has_the_old_one_open),
		CASE(a_backup_has_the_same_rows_and_another_generation),
		CASE(a_backup_without_room_leaves_nothing),
		CASE(a_damaged_position_is_not_taken_for_the_beginning),
		CASE(the_last_record_of_no_node_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
