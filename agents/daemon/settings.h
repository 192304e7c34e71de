/*
 * settings - the agent's options and the values derived from them.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_DAEMON_SETTINGS_H
#define AGENTS_DAEMON_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "agents/delivery/broker_link.h"
#include "agents/sampler/sampler.h"
#include "agents/spool/spool.h"
#include "proto/base/err.h"
#include "proto/config/instance.h"
#include "proto/config/opt.h"
#include "proto/service/sandbox.h"

/* The values that the options were given, else the defaults. */
struct settings_given {
	const char *partition, *node, *socket, *spool, *fallback;
	struct opt_list broker;
	struct client_key_values key;
	uint64_t spool_bytes, segment_bytes, retain_bytes, free_bytes;
	int64_t period_ns, dense_ns, drain_ns, send_interval_ns;
	const char *metric_groups, *proc, *sys, *groups, *group_root,
	    *preempt_file;
	uint64_t processes, throttle_percent;
	bool compress, samples, clock, replay;
	int print; /* index in "perf" */
};
extern const struct settings_given settings_default;
/* Bound to a struct settings_given. */
extern const struct opt settings_table[];

/* Derived from the options, the instance and the batch system. */
struct settings {
	char partition[INSTANCE_PATH_BYTES], node[INSTANCE_PATH_BYTES];
	char socket[INSTANCE_PATH_BYTES];
	struct broker_link broker_link;
	char spool_dir[INSTANCE_PATH_BYTES],
	    fallback_queue[INSTANCE_PATH_BYTES];
	bool compress;
	struct sampler_plan plan;
};

/* Check the options beyond their types. */
int settings_check(const struct settings_given *given, struct err *err);
int settings_plan(const struct settings_given *given, struct sampler_plan *plan,
    struct err *err);

/* The files of this host that an agent needs. */
bool settings_sandbox(
    const struct settings_given *given, struct sandbox *sandbox);

/* Also creates the directory of the socket, and logs pool, node and broker. */
int settings_resolve(const struct settings_given *given,
    struct settings *settings, struct err *err);

/* The options of the spool. */
struct spool_options settings_spool(const struct settings_given *given);

#endif
