/*
 * sampler - samples this host on an absolute timer.
 *
 * The first sample is taken at the next multiple of the period plus a phase
 * that follows from the node's name, so that a pool does not breathe in step.
 * Samples that the spool has no room for are counted, and told as a gap when
 * there is room again.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SAMPLER_H
#define AGENTS_SAMPLER_H

#include <stdint.h>

#include "agents/door.h"
#include "agents/gather.h"
#include "agents/ship.h"
#include "agents/spool.h"
#include "proto/loop.h"

/* What the agent says about itself. */
struct sampler_counters {
	const struct gather_counters *gather;
	const struct spool_counters *spool;
	const struct ship_counters *ship;
	const struct door_counters *door;
	uint32_t clients;
};

struct sampler_options {
	struct loop *loop;
	struct gather *gather;
	struct text node;
	int64_t period_ns;

	void *arg;
	void (*commit)(void *arg); /* the gather is due */
	void (*counters)(void *arg, struct sampler_counters *counters);
};

struct sampler; /* opaque */

void sampler_open(
    struct sampler **sampler, const struct sampler_options *options);
void sampler_close(struct sampler **sampler);

/* The session is a new one: say again what the sets are. */
void sampler_renew(struct sampler *sampler);

#endif
