/*
 * trial - crashes of a recorded life, judged one by one.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fault/states/states.h"

enum { STATES_PER_LIFE = 100, SECONDS_PER_STATE = 20 };

/* In a child: a crash or a hang there is a result. */
static bool
holds(const struct states_judge *judge, const char *dir, uint64_t at)
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child < 0)
		abort();
	if (child == 0) {
		alarm(SECONDS_PER_STATE);
		_exit(judge->holds(judge->arg, dir, at) ? 0 : 1);
	}
	if (waitpid(child, &status, 0) != child)
		abort();
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
