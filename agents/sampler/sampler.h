/*
 * sampler - samples this host on an absolute timer.
 *
 * A plan determines what is sampled, and when: more often while the node or a
 * job of it starts.  Samples wait in
 * memory for the send interval at most, and are then submitted, committed and
 * sent together.  Samples that do not fit in the spool are counted, and
 * reported as a gap when there is room again.  When the host is short of
 * memory the sampler throttles itself: every period becomes eight times as
 * long until the pressure ends, and an event reports it.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_SAMPLER_SAMPLER_H
#define AGENTS_SAMPLER_SAMPLER_H

#include <stdint.h>

#include "agents/accept/batcher.h"
#include "agents/accept/local_server.h"
#include "agents/clock/clock_offset.h"
#include "agents/delivery/sender.h"
#include "agents/sampler/schedule.h"
#include "agents/spool/spool.h"
#include "proto/net/loop/loop.h"

/* The agent's metrics about itself. */
struct sampler_counters {
	const struct batcher_counters *batcher;
	const struct spool_counters *spool;
	const struct sender_counters *sender;
	uint64_t moves; /* to another broker */
	const struct local_server_counters *listener;
	uint32_t clients;
};

/* What is sampled when. */
struct sampler_plan {
	struct schedule usual;
	/* For this long from the start on, and from that of each job: phases
	 * of seconds need samples inside them.  0: never. */
	struct schedule dense;
	int64_t dense_ns;
};

struct sampler_options {
	struct loop *loop;
	struct batcher *batcher;
	struct text node;
	struct clock_offset_now began; /* before anything is submitted */
	struct sampler_plan plan;
	int64_t send_interval_ns; /* the send interval */
	double throttle_percent;  /* throttle above this memory pressure (some,
				     avg10); 0: never */
	const char *proc;         /* "/proc" */
	const char *sys;          /* NULL: "/sys" */
	bool sys_is_own;          /* the host's interfaces are others */
	const char *groups;   /* patterns of paths, see proc/job_cgroups.h */
	const char *root;     /* of the control groups; NULL: find it */
	uint32_t processes;   /* at most, in metric group process */
	uint64_t start_count; /* of the spool: generations of the
			 clock follow it */

	void *arg;
	void (*commit)(void *arg); /* commit the batcher */
	void (*counters)(void *arg, struct sampler_counters *counters);
};

struct sampler; /* opaque */

void sampler_open(
    struct sampler **sampler, const struct sampler_options *options);
/* Its submissions must be settled: commit before. */
void sampler_close(struct sampler **sampler);

/* Continue with another plan, send interval, throttle_percent and processes of
 * `options`; nothing else may differ.  Submits waiting samples before. */
void sampler_change(
    struct sampler *sampler, const struct sampler_options *options);

/* A job begins on this host. */
void sampler_begin_job(struct sampler *sampler);

/* Submit a last sample of each group whose period is at least half over, and
 * everything that waits.  `sampler` may be NULL. */
void sampler_stop(struct sampler *sampler);

/* This host is about to be preempted: sample each group whose period is at
 * least half over, submit everything, and from now on let no sample wait for
 * the send interval. */
void sampler_urge(struct sampler *sampler, const char *why);

/* An answer is a clock probe: the resulting offset of this host's clock is
 * published as metric group `clock` with the next samples, or after the send
 * interval when none are due soon.  True: send another probe right now, as is
 * done once in each slot of which clock_offset stores one.  `sampler` may be
 * NULL. */
bool sampler_probed(
    struct sampler *sampler, const struct clock_offset_probe *probe);
/* Check whether this host's clock was stepped, once a round of the loop. */
void sampler_watch_clock(struct sampler *sampler);

/* The session is a new one: send the descriptions of the groups again. */
void sampler_renew(struct sampler *sampler);

#endif
