/*
 * sampler_private - what sampler.c (when, and to where) and sampler_read.c
 * (what) share.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SAMPLER_PRIVATE_H
#define AGENTS_SAMPLER_PRIVATE_H

#include "agents/host_files.h"
#include "agents/sampler.h"
#include "agents/sets.h"

enum {
	SAMPLER_SETS_MAX = 512,
	SAMPLER_BODY_BYTES = 24 << 10,
};

struct sampler {
	struct sampler_options options;
	struct loop_timer timer;
	struct host_files files;

	int64_t now_ns; /* time of this round's samples */
	struct wire_writer samples, sets;
	unsigned char samples_body[SAMPLER_BODY_BYTES];
	unsigned char sets_body[SAMPLER_BODY_BYTES];

	/* Hashes of the names of sets that are defined; those from `sure` on
	 * are on their way to the spool. */
	uint64_t defined[SAMPLER_SETS_MAX];
	uint32_t defined_count, sure;

	/* Samples without room, not yet told. */
	uint64_t lost, lost_ever;
	int64_t lost_from_ns, lost_to_ns;
	const char *lost_reason;
	bool room; /* the last samples found some */
};

/* Append a sample of set `name` (and, once, what the set is). */
void sampler_add(struct sampler *sampler, const struct set *set,
    struct text name, const struct value *values);

/* Read everything once. */
void sampler_read(struct sampler *sampler);

#endif
