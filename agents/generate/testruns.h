/*
 * generate_testruns - generates test runs of a device farm.
 *
 * The same seed gives the same runs on every machine: six random numbers for
 * each run (proto/hash/prng.h).  A run is requested every `spacing_s` seconds,
 * plus up to 20 seconds; every 50th ends in an error; 19 requestors alternate.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_GENERATE_TESTRUNS_H
#define AGENTS_GENERATE_TESTRUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"

enum {
	GENERATE_EVENTS = 10, /* of a run */
	GENERATE_RUN_S =
	    102, /* the longest time from the base to the end of a run */
	GENERATE_TEXT_BYTES =
	    64, /* of an id or a property, including its NUL */
};

/* Properties of all runs. */
#define GENERATE_GROUP         "device_group_1"
#define GENERATE_QUEUE         "q"
#define GENERATE_CONFIGURATION "c"

struct generate_event {
	const char *name;
	int64_t emit_s, receive_s; /* since the epoch */
};

struct generate_run {
	char id[GENERATE_TEXT_BYTES], request_id[GENERATE_TEXT_BYTES];
	char hosts[GENERATE_TEXT_BYTES]; /* JSON */
	char requestor[GENERATE_TEXT_BYTES];
	const char *error; /* NULL: none */
	struct generate_event event[GENERATE_EVENTS];
};

struct generate_runs {
	uint64_t seed, runs, spacing_s;
	uint64_t first;     /* id of the first run */
	int64_t base_s;     /* earliest time of its request, since the epoch */
	uint64_t state, at; /* private: set by generate_runs_begin */
};

/* The base with which the last run ends at `end_s`. */
int generate_runs_base(
    struct generate_runs *runs, int64_t end_s, struct err *err);

/* Start with the first run.  -1: ids or times are out of range. */
int generate_runs_begin(struct generate_runs *runs, struct err *err);
/* False at the end. */
bool generate_runs_next(struct generate_runs *runs, struct generate_run *run);

#endif
