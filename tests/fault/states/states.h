/*
 * states - the directories that a crash could leave behind.
 *
 * A program that links shim.c and replay.c has its own writes,
 * syncs and changes of names under one directory recorded, in memory, while it
 * runs against the real file system.  Any moment of the recording can then be
 * turned into a directory as a power cut at that moment might leave it:
 *
 *  - a write that was not synced is there, is not, or is there in part, by
 *    sectors of 512 bytes;
 *  - names that were made, changed and removed since their directory was
 *    synced are there up to some point, in order, per directory;
 *  - what a failed sync covered may never arrive, whatever is synced later.
 *
 * The method is that of ALICE (Pillai et al., OSDI 2014), with a random
 * sample of the states.  What was promised when is the program's own ledger:
 * it notes states_position() with each promise.  Not recorded: memory maps.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_FAULT_STATES_STATES_H
#define TESTS_FAULT_STATES_STATES_H

#include <stdbool.h>
#include <stdint.h>

/* Record from now on; what is in `root` is taken as synced. */
void states_start(const char *root);
void states_stop(void);
/* Forget the recording. */
void states_clear(void);

/* Operations recorded so far. */
uint64_t states_position(void);

/* Make `dir` (whatever was in it goes) one of the directories that a crash
 * just before operation `position` could leave.  `*random` is the state of
 * a splitmix64 generator. */
void states_build(const char *dir, uint64_t position, uint64_t *random);

/* The first operation from `position` on that can fail does, with `error`: a
 * sync, a write (half of it is done), an allocation.  0 takes it back. */
void states_fail_at(uint64_t position, int error);
/* From `position` on nothing is done or recorded any more, every call fails,
 * as if the process had been killed there; until states_revive. */
void states_kill_at(uint64_t position);
void states_revive(void);
/* Did either happen? */
bool states_failed(void);
bool states_killed(void);

/* splitmix64 (S. Vigna). */
uint64_t states_random(uint64_t *random);

/* ---- many of them ---- */

/* Is what was promised before operation `at` kept in `dir`?  Asked in a child,
 * which may crash or hang. */
struct states_judge {
	bool (*holds)(void *arg, const char *dir, uint64_t at);
	void *arg;
};

struct states_tally {
	uint64_t left; /* states to try */
	uint64_t passed, failed, operations;
};

/* End the recording and judge some hundred crashes of it, each in `dir`.  With
 * KEEP in the environment the first failure ends the program. */
void states_try(struct states_tally *tally, const struct states_judge *judge,
    const char *dir, uint64_t seed, uint64_t *random);

/* The whole of main(): PROGRAM [STATES [SEED]].  Lives are made from one seed
 * after another until `states` states of them were tried, in a directory in
 * memory, or in $KEEP, which stays. */
int states_main(int argc, char **argv, uint64_t states,
    void (*try_life)(
	const char *base, uint64_t seed, struct states_tally *tally));

#endif
