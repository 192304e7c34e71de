/*
 * trial - crashes of a recorded life, judged one by one.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/fault/apart.h"
#include "tests/fault/states/states.h"

enum { STATES_PER_LIFE = 100, SECONDS_PER_STATE = 20 };

struct crash {
	const struct states_judge *judge;
	const char *dir;
	uint64_t at;
};

static int
judge_crash(void *arg)
{
	const struct crash *crash = arg;
	const struct states_judge *judge = crash->judge;

	return judge->holds(judge->arg, crash->dir, crash->at) ? 0 : 1;
}

static bool
holds(const struct states_judge *judge, const char *dir, uint64_t at)
{
	struct crash crash = { judge, dir, at };
	int status = apart_run(SECONDS_PER_STATE, judge_crash, &crash);

	if (WIFSIGNALED(status))
		fprintf(stderr, "ended by signal %d\n", WTERMSIG(status));
	return status == 0;
}

void
states_try(struct states_tally *tally, const struct states_judge *judge,
    const char *dir, uint64_t seed, uint64_t *random)
{
	uint64_t operations = states_position();

	states_stop();
	tally->operations += operations;
	for (int i = 0; i < STATES_PER_LIFE && tally->left > 0; i++) {
		uint64_t at = states_random(random) % (operations + 1);

		states_build(dir, at, random);
		tally->left--;
		if (holds(judge, dir, at)) {
			tally->passed++;
			continue;
		}
		tally->failed++;
		fprintf(stderr,
		    "crash before operation %" PRIu64 " of %" PRIu64
		    ", seed %" PRIu64 "\n",
		    at, operations, seed);
		if (getenv("KEEP") != NULL)
			exit(1);
	}
}

/* ---- the program ---- */

int
states_main(int argc, char **argv, uint64_t states,
    void (*try_life)(
	const char *base, uint64_t seed, struct states_tally *tally))
{
	struct states_tally tally = { .left = states };
	const char *base = apart_base(argv[0]);
	uint64_t seed = (uint64_t)time(NULL), random;
	time_t began = time(NULL);

	/* What children clear would be copied first if it came from where
	 * their parent had something before: that takes half of the time. */
	mallopt(M_MMAP_THRESHOLD, 32 << 10);
	if (argc > 1)
		tally.left = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	printf("seed %" PRIu64 "\n", seed);
	for (random = seed; tally.left > 0; states_random(&random))
		try_life(base, random, &tally);
	printf("%" PRIu64 " operations recorded, %lld s\n", tally.operations,
	    (long long)(time(NULL) - began));
	printf("%" PRIu64 " passed, %" PRIu64 " failed\n", tally.passed,
	    tally.failed);
	return tally.failed > 0;
}
