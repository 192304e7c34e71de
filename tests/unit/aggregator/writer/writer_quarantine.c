/*
 * writer_quarantine - tests of a batch that crashes the indexer.  The linker
 * puts the test's collect_entry before the real one.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/aggregator/rig.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "aggregator/indexer/collect.h"
#include "aggregator/indexer/quarantine.h"

void __real_collect_entry(struct collect *collect, struct db_txn *txn,
    const struct journal_entry *entry, bool quarantined);
void __wrap_collect_entry(struct collect *collect, struct db_txn *txn,
    const struct journal_entry *entry, bool quarantined);

void
__wrap_collect_entry(struct collect *collect, struct db_txn *txn,
    const struct journal_entry *entry, bool quarantined)
{
	if (!quarantined &&
	    memmem(entry->body.at, entry->body.bytes, "crash", 5) != NULL)
		raise(SIGSEGV);
	__real_collect_entry(collect, txn, entry, quarantined);
}

static struct rig rig;

/* A process that indexes the journal; returns how it ended. */
static int
indexer_apart(void)
{
	const struct rlimit none = { 0, 0 };
	struct err err = { 0 };
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		const struct journal_options options = { .map_bytes = INT64_C(4)
								      << 30 };

		setrlimit(RLIMIT_CORE, &none);
		signal(SIGSEGV, SIG_DFL); /* not the handler of cmocka */
		quarantine_watch();
		alarm(60);
		if (journal_open(&rig.journal, rig.folder, &options, &err) !=
			0 ||
		    writer_open(&rig.writer, rig.folder, rig.journal,
			&rig.options, &err) != 0)
			_exit(2);
		_exit(writer_run(rig.writer, &err) == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void
the_third_crash_quarantines_a_batch_and_the_others_are_indexed(void **state)
{
	const struct journal_options options = { .map_bytes = INT64_C(4)
							      << 30 };
	struct err err = { 0 };
	uint64_t events, rejected;
	int crashes = 0, status;

	rig_open(&rig, NULL);
	for (int i = 0; i < 20; i++) {
		rig_event(&rig, "n", RIG_T0 + i, "test",
		    i == 11 ? "crash" : "event", NULL);
		rig_send(&rig, 0);
	}
	rig_flush(&rig);
	writer_close(&rig.writer);
	journal_close(&rig.journal);
	while (WIFSIGNALED(status = indexer_apart())) {
		assert_int_equal(WTERMSIG(status), SIGSEGV);
		assert_true(++crashes < 5);
	}
	assert_int_equal(status, 0);
	assert_int_equal(crashes, 3);
	rig_good(journal_open(&rig.journal, rig.folder, &options, &err), &err);
	rig_open_indexer(&rig);
	rig_indexer(&rig);
	free(rig_read(
	    &rig, RIG_SELECT, rig_query(1u << RECORD_EVENT, 0), &events));
	free(rig_read(
	    &rig, RIG_SELECT, rig_query(1u << RECORD_REJECTED, 0), &rejected));
	assert_int_equal(events, 19);
	assert_int_equal(rejected, 1);
	rig_close(&rig);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
		    the_third_crash_quarantines_a_batch_and_the_others_are_indexed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
