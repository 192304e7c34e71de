/*
 * generate_testruns - test runs of a device farm, made up.
 *
 * The same for the same seed on every machine: six draws a run
 * (proto/hash/prng.h).  Every `spacing_s` seconds a run is asked for, up to 20
 * seconds later; every 50th ends in an error; 19 people take turns to ask.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_GENERATE_TESTRUNS_H
#define AGENTS_GENERATE_TESTRUNS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"

enum {
	GENERATE_EVENTS = 10,     /* of a run */
	GENERATE_RUN_S = 102,     /* after so long it has ended, at most */
	GENERATE_TEXT_BYTES = 64, /* of an id or a property, with its NUL */
};

/* Properties that all of them have. */
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
	uint64_t first;     /* id of the first */
	int64_t base_s;     /* since the epoch: the earliest that it comes */
	uint64_t state, at; /* of the maker: generate_runs_begin sets them */
};

/* The base from which the last run has ended at `end_s`. */
int generate_runs_base(
    struct generate_runs *runs, int64_t end_s, struct err *err);

/* From the first one on.  -1: ids or times are out of range. */
int generate_runs_begin(struct generate_runs *runs, struct err *err);
/* False at the end. */
bool generate_runs_next(struct generate_runs *runs, struct generate_run *run);

#endif
