/*
 * nth - lets the n-th operation of the disk fail, and the n-th allocation, for
 * n = 1, 2 ... until nothing is left to fail.
 *
 *     nth [spool|journal|indexer]...
 *
 * Each time a short life runs in a child with one fault, or with everything
 * failing from there on: an error of the disk, a full one, an interrupted and
 * a short write, no memory.  It must end by itself, which without memory may
 * be by abort().  Of allocations one in EVERY (default 1) fails.  Then another
 * child, without faults, must find everything that was accepted, once, nothing
 * else, and go on.  With KEEP=DIR the first directory that fails is left there.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/mman.h>

#include "proto/os/log.h"
#include "tests/fault/apart.h"
#include "tests/fault/nth/nth.h"

enum { SECONDS = 60, GAVE_UP = 3 };

static const char *const words[NTH_HOWS] = { "EIO", "ENOSPC", "EINTR",
	"a short write", "no memory" };
static const struct nth_scenario *const scenarios[] = { &nth_spool,
	&nth_journal, &nth_indexer };

static const char *root;
static struct nth_ledger *ledger;
static uint64_t seed, every = 1;

struct run {
	const struct nth_scenario *scenario;
	enum nth_how how;
	uint64_t n;
	bool sticky;
	char dir[64];
};

bool
nth_wrong(const char *what, uint64_t got, uint64_t wanted)
{
	fprintf(
	    stderr, "%s: %" PRIu64 ", not %" PRIu64 "\n", what, got, wanted);
	return false;
}

static void
make_room(char dir[static 64])
{
	char command[160];

	snprintf(dir, 64, "%s/d", root);
	snprintf(
	    command, sizeof(command), "rm -rf %s && mkdir -m 700 %s", dir, dir);
	if (system(command) != 0)
		abort();
}

/* In a child. */
static int
live(void *arg)
{
	const struct run *run = arg;
	int rc;

	/* What it says of faults is expected. */
	if (freopen("/dev/null", "w", stderr) == NULL)
		abort();
	ledger->hit = true; /* unless it ends and says no */
	if (run->scenario->prepare != NULL)
		run->scenario->prepare(run->dir, ledger);
	nth_arm(run->how, run->n, run->sticky);
	rc = run->scenario->run(run->dir, ledger);
	nth_disarm();
	ledger->hit = nth_was_hit();
	return rc == 0 ? 0 : GAVE_UP;
}

/* In another, which says what it has to say to standard error. */
static int
judge(void *arg)
{
	const struct run *run = arg;

	return run->scenario->judge(run->dir, ledger) ? 0 : 1;
}

static bool
ended_well(const struct run *run, int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status) == 0 ||
		       WEXITSTATUS(status) == GAVE_UP;
	return WTERMSIG(status) == SIGABRT && run->how == NTH_MALLOC;
}

static bool
holds(struct run *run)
{
	int status;

	make_room(run->dir);
	memset(ledger, 0, sizeof(*ledger));
	status = apart_run(SECONDS, live, run);
	if (!ended_well(run, status)) {
		if (WIFSIGNALED(status))
			return nth_wrong(
			    "signal", (uint64_t)WTERMSIG(status), 0);
		return nth_wrong("status", (uint64_t)WEXITSTATUS(status), 0);
	}
	return apart_run(SECONDS, judge, run) == 0;
}

static void
try_all(const struct nth_scenario *scenario, enum nth_how how, bool sticky,
    uint64_t *passed, uint64_t *failed)
{
	struct run run = { scenario, how, 1, sticky, "" };

	/* Allocations are many: one in EVERY, another choice each time. */
	if (how == NTH_MALLOC)
		run.n += seed % every;
	for (;; run.n += how == NTH_MALLOC ? every : 1) {
		if (!holds(&run)) {
			printf("not ok - %s: %s at operation %" PRIu64 "%s\n",
			    scenario->name, words[how], run.n,
			    sticky ? " and after" : "");
			if (getenv("KEEP") != NULL)
				exit(1);
			++*failed;
		} else {
			++*passed;
		}
		if (!ledger->hit || *failed > 1000)
			break;
	}
	printf("%s: %s%s: %" PRIu64 " operations\n", scenario->name, words[how],
	    sticky ? ", from then on" : "", run.n - 1);
}

static bool
is_wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return argc <= 1;
}

int
main(int argc, char **argv)
{
	uint64_t passed = 0, failed = 0;

	seed = getenv("SEED") != NULL ? strtoull(getenv("SEED"), NULL, 0)
				      : (uint64_t)time(NULL);
	if (getenv("EVERY") != NULL)
		every = strtoull(getenv("EVERY"), NULL, 0);
	if (every == 0)
		every = 1;
	printf(
	    "seed %" PRIu64 "\none allocation in %" PRIu64 "\n", seed, every);
	log_init("nth", LOG_WARN);
	root = apart_base(argv[0]);
	ledger = mmap(NULL, sizeof(*ledger), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (ledger == MAP_FAILED)
		return 1;
	for (unsigned i = 0; i < 3; i++)
		for (unsigned how = 0; how < NTH_HOWS; how++) {
			bool once = how == NTH_EINTR || how == NTH_SHORT;

			if (!is_wanted(scenarios[i]->name, argc, argv) ||
			    (how == NTH_MALLOC && !nth_has_malloc()))
				continue;
			try_all(scenarios[i], how, false, &passed, &failed);
			if (!once)
				try_all(
				    scenarios[i], how, true, &passed, &failed);
		}
	printf("%" PRIu64 " passed, %" PRIu64 " failed\n", passed, failed);
	return failed > 0;
}
