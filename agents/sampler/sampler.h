/*
 * sampler - samples this host on an absolute timer.
 *
 * What is sampled, and when, is a plan (schedule.h).  Samples wait in memory
 * for the ship interval at most, and are then put, committed and sent together.
 * Those that the spool has no room for are counted, and reported as a gap when
 * there is room again.  When the host is short of memory the sampler thins
 * itself: every period becomes eight times as long until that is over, and an
 * event says so.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SAMPLER_SAMPLER_H
#define AGENTS_SAMPLER_SAMPLER_H

#include <stdint.h>

#include "agents/accept/batcher.h"
#include "agents/accept/local_server.h"
#include "agents/delivery/clock_offset.h"
#include "agents/delivery/sender.h"
#include "agents/sampler/schedule.h"
#include "agents/spool/spool.h"
#include "proto/net/loop/loop.h"

/* What the agent says about itself. */
struct sampler_counters {
	const struct batcher_counters *gather;
	const struct spool_counters *spool;
	const struct sender_counters *ship;
	uint64_t moves; /* to another broker */
	const struct local_server_counters *listener;
	uint32_t clients;
};

struct sampler_options {
	struct loop *loop;
	struct batcher *gather;
	struct text node;
	struct clock_offset_now began; /* before anything could be put */
	struct schedule schedule;
	int64_t ship_ns; /* the ship interval */
	double
	    throttle_percent; /* of memory pressure (some, avg10); 0: never */
	const char *proc;     /* "/proc" */
	const char *groups;   /* patterns of paths, see proc/job_cgroups.h */
	const char *root;     /* of the control groups; NULL: find it */
	uint32_t processes;   /* at most, in set process */
	uint64_t run; /* of the spool: generations of the clock follow */

	void *arg;
	void (*commit)(void *arg); /* the gather is due */
	void (*counters)(void *arg, struct sampler_counters *counters);
};

struct sampler; /* opaque */

void sampler_open(
    struct sampler **sampler, const struct sampler_options *options);
/* What it has put must be settled: commit before. */
void sampler_close(struct sampler **sampler);

/* Go on with other plan, ship_ns, throttle_percent and processes of `options`;
 * nothing else may be another.  What waits is put before. */
void sampler_change(
    struct sampler *sampler, const struct sampler_options *options);

/* Put a last sample of what is half due, and everything that waits.  NULL is
 * no sampler. */
void sampler_stop(struct sampler *sampler);

/* The end of this host was announced: sample what is half due, put everything,
 * and from now on let no sample wait for the ship interval. */
void sampler_urge(struct sampler *sampler, const char *why);

/* An answer is a clock probe: what it tells of this host's clock is published
 * as set `clock` with the next samples, or after the ship interval when there
 * are none soon.  True: another probe right now is welcome, as it is once in
 * each slot of which offset keeps one.  NULL is no sampler. */
bool sampler_probed(
    struct sampler *sampler, const struct clock_offset_probe *probe);
/* Look whether this host's clock was stepped, once a round of the loop. */
void sampler_watch_clock(struct sampler *sampler);

/* The session is a new one: say again what the sets are. */
void sampler_renew(struct sampler *sampler);

#endif
