/*
 * spool_states - opens the spool in the directories that crashes leave.
 *
 *     spool_states [STATES [SEED]]
 *
 * A random life of a spool is recorded, and some hundred of the directories
 * that a crash somewhere in it could leave are opened, each in a child.  There
 * everything that was accepted must be acknowledged or readable at one place,
 * nothing else may be, under no number may there be other content than before,
 * and one more batch must fit into a new session.  One of the crashed
 * directories is where the next life begins.  The seed is printed; with
 * KEEP=DIR the first directory that fails is left there.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fault/spool/work.h"
#include "tests/fault/states/states.h"

enum { LIVES_PER_SPOOL = 4 };

/* A move that the crash interrupted goes on, as in an agent. */
static bool
go_on_moving(struct ledger *ledger, struct spool *spool)
{
	struct err err = { 0 };
	uint32_t to;

	for (uint32_t i = 0; i < spool_streams(spool); i++) {
		if (spool_partition(spool, i).at == NULL ||
		    !spool_is_to_move(spool, i))
			continue;
		while (spool_is_to_move(spool, i))
			if (spool_move(spool, i, &to, &err) != SPOOL_OK) {
				fprintf(stderr, "move: %s\n", err.text);
				return false;
			}
		ledger_session(ledger, spool_session(spool));
	}
	return true;
}

static bool
judge_twice(void *arg, const char *dir, uint64_t at)
{
	struct ledger *ledger = arg;
	struct spool *spool;
	struct err err = { 0 };

	for (int round = 0; round < 2; round++) {
		if (spool_open(&spool, dir, &work_options, &err) != 0) {
			fprintf(stderr, "open: %s\n", err.text);
			return false;
		}
		if (spool_start_count(spool) == 0 ||
		    !go_on_moving(ledger, spool) ||
		    !ledger_judge(ledger, spool, at))
			return false;
		if (round == 0 && !work_append_one(ledger, spool, at))
			return false;
		spool_close(&spool);
	}
	return true;
}

/* One spool from its making on, over some crashes. */
static void
try_spool(const char *base, uint64_t seed, struct states_tally *tally)
{
	char live[512], crash[512];
	struct ledger ledger = { 0 };
	const struct states_judge judge = { judge_twice, &ledger };
	uint64_t random = seed;

	snprintf(live, sizeof(live), "%s/live", base);
	snprintf(crash, sizeof(crash), "%s/crash", base);
	states_clear();
	states_build(live, 0, &random); /* an empty directory */
	for (int life = 0; life < LIVES_PER_SPOOL && tally->left > 0; life++) {
		uint64_t at;

		states_start(live);
		work_run(
		    &ledger, live, 40 + states_random(&random) % 160, &random);
		states_try(tally, &judge, crash, seed, &random);
		at = states_random(&random) % (states_position() + 1);
		states_build(live, at, &random);
		ledger_cut(&ledger, at);
	}
	ledger_clear(&ledger);
}

int
main(int argc, char **argv)
{
	return states_main(argc, argv, 5000, try_spool);
}
