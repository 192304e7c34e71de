/*
 * settings - the agent's options and the values derived from them.
 * SPDX-License-Identifier: MIT
 */
#include "agents/daemon/settings.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/proc/job_cgroups.h"
#include "proto/auth/client_key.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

const struct settings_given settings_default = {
	.spool_bytes = UINT64_C(256) << 20,
	.segment_bytes = UINT64_C(16) << 20,
	.retain_bytes = UINT64_C(64) << 20,
	.free_bytes = UINT64_C(64) << 20,
	.period_ns = 10 * NS_PER_SECOND,
	.dense_ns = 600 * NS_PER_SECOND,
	.send_interval_ns = 1 * NS_PER_SECOND,
	.proc = "/proc",
	/* The control groups of Slurm, Docker and Podman. */
	.groups = "system.slice/*slurmstepd.scope/job_*,"
		  "system.slice/*slurmstepd.scope/s[0-9A-Z]*,"
		  "system.slice/docker-*.scope,docker/*,"
		  "machine.slice/libpod-*.scope",
	.processes = 5,
	.throttle_percent = 20,
	.drain_ns = 2 * NS_PER_SECOND,
	.samples = true,
	.clock = true,
};

/* The index of --compress in the table, to ask whether it was given. */
enum { COMPRESS_INDEX = 6 };

const struct opt settings_table[] = {
	{ "partition", 'p', OPT_TEXT, OPT_TO(struct settings_given, partition),
	    "NAME",
	    "set the partition, account$pool (default: from the batch "
	    "system)" },
	{ "node", 'n', OPT_TEXT, OPT_TO(struct settings_given, node), "NAME",
	    "set the name of this node (default: from the batch system or the "
	    "host name)" },
	{ "broker", 0, OPT_LIST, OPT_TO(struct settings_given, broker),
	    "ENDPOINT",
	    "send to this broker (default: ipc://DIR/run/broker.ipc); repeat "
	    "for failover, in order" },
	{ "socket", 0, OPT_TEXT, OPT_TO(struct settings_given, socket), "PATH",
	    "listen for local programs on this socket (default: "
	    "DIR/run/agent.sock)" },
	{ "spool", 0, OPT_TEXT, OPT_TO(struct settings_given, spool), "PATH",
	    "store unacknowledged records in this spool (default: DIR/spool)" },
	{ "fallback", 0, OPT_TEXT, OPT_TO(struct settings_given, fallback),
	    "PATH",
	    "read events from this fallback queue (default: DIR/fallback)" },
	{ "compress", 0, OPT_FLAG, OPT_TO(struct settings_given, compress),
	    NULL, "compress batches (default: only to a TCP broker)" },
	{ "spool-bytes", 0, OPT_BYTES,
	    OPT_TO(struct settings_given, spool_bytes), "BYTES",
	    "limit the size of the spool (default: 256MiB)",
	    .flags = OPT_RELOAD },
	{ "segment-bytes", 0, OPT_BYTES,
	    OPT_TO(struct settings_given, segment_bytes), "BYTES",
	    "set the size of the spool's segment files (default: 16MiB)",
	    .flags = OPT_RELOAD },
	{ "retain-bytes", 0, OPT_BYTES,
	    OPT_TO(struct settings_given, retain_bytes), "BYTES",
	    "retain this much acknowledged data, to resend it to a restored "
	    "store (default: 64MiB)",
	    .flags = OPT_RELOAD },
	{ "free-bytes", 0, OPT_BYTES, OPT_TO(struct settings_given, free_bytes),
	    "BYTES",
	    "leave this much of the spool's file system free (default: 64MiB)",
	    .flags = OPT_RELOAD },
	{ "samples", 0, OPT_FLAG, OPT_TO(struct settings_given, samples), NULL,
	    "sample this host (default: yes)" },
	{ "clock", 0, OPT_FLAG, OPT_TO(struct settings_given, clock), NULL,
	    "publish the clock offset of this host (default: yes)" },
	{ "period", 0, OPT_DURATION, OPT_TO(struct settings_given, period_ns),
	    "DURATION", "set the time between two samples (default: 10s)",
	    .flags = OPT_RELOAD },
	{ "dense", 0, OPT_DURATION, OPT_TO(struct settings_given, dense_ns),
	    "DURATION",
	    "sample every second for so long from the agent's start on, and "
	    "from that of each job (default: 10min; 0: never)",
	    .flags = OPT_RELOAD },
	{ "metric-groups", 0, OPT_TEXT,
	    OPT_TO(struct settings_given, metric_groups), "LIST",
	    "sample these metric groups: cpu,perf=10s or default,cpus,-gpu",
	    .flags = OPT_RELOAD },
	{ "send-interval", 0, OPT_DURATION,
	    OPT_TO(struct settings_given, send_interval_ns), "DURATION",
	    "let samples wait this long in memory (default: 1s)",
	    .flags = OPT_RELOAD },
	{ "throttle-pressure", 0, OPT_COUNT,
	    OPT_TO(struct settings_given, throttle_percent), "PERCENT",
	    "sample less often above this memory pressure (default: 20; 0: "
	    "never)",
	    .flags = OPT_RELOAD },
	{ "cgroups", 0, OPT_TEXT, OPT_TO(struct settings_given, groups),
	    "PATTERNS",
	    "sample these control groups as jobs (default: Slurm, Docker, "
	    "Podman)" },
	{ "cgroup-root", 0, OPT_TEXT, OPT_TO(struct settings_given, group_root),
	    "PATH",
	    "read control groups from here (default: the mount point of "
	    "cgroup2)" },
	{ "processes", 0, OPT_COUNT, OPT_TO(struct settings_given, processes),
	    "N", "sample the N busiest commands of jobs (default: 5)",
	    .flags = OPT_RELOAD },
	{ "proc", 0, OPT_TEXT, OPT_TO(struct settings_given, proc), "PATH",
	    "read the host's /proc from here (default: /proc)" },
	{ "sys", 0, OPT_TEXT, OPT_TO(struct settings_given, sys), "PATH",
	    "read the host's /sys from here (default: /sys)" },
	{ "preempt-file", 0, OPT_TEXT,
	    OPT_TO(struct settings_given, preempt_file), "FILE",
	    "treat the appearance of this file as a preemption notice" },
	{ "drain", 0, OPT_DURATION, OPT_TO(struct settings_given, drain_ns),
	    "DURATION",
	    "when stopped, continue to send for this long (default: 2s)",
	    .flags = OPT_RELOAD },
	{ "key", 0, OPT_TEXT, OPT_TO(struct settings_given, key.key), "FILE",
	    "use this key for a TCP broker (default: DIR/keys/agent.key)" },
	{ "insecure", 0, OPT_FLAG, OPT_TO(struct settings_given, key.insecure),
	    NULL, "connect to a TCP broker without a key, unencrypted" },
	{ "replay", 0, OPT_FLAG, OPT_TO(struct settings_given, replay), NULL,
	    "sample the images of /proc that the operands name, not this host",
	    .flags = OPT_COMMAND },
	{ "print", 0, OPT_CHOICE, OPT_TO(struct settings_given, print), "GROUP",
	    "with --replay: print this metric group (perf)", "perf",
	    .flags = OPT_COMMAND },
	{ 0 },
};

static int
path_or(char to[static INSTANCE_PATH_BYTES], const char *option,
    const char *name, struct err *err)
{
	if (option == NULL)
		return instance_path(to, name, err);
	if (strlen(option) >= INSTANCE_PATH_BYTES)
		return err_set(err, "%s: name too long", option);
	strcpy(to, option);
	return 0;
}

static bool
any_is_tcp(const struct opt_list *brokers)
{
	for (uint32_t i = 0; i < brokers->count; i++)
		if (strncmp(brokers->at[i], "tcp:", 4) == 0)
			return true;
	return false;
}

int
settings_plan(const struct settings_given *given, struct sampler_plan *plan,
    struct err *err)
{
	int64_t dense_ns =
	    given->period_ns < NS_PER_SECOND ? given->period_ns : NS_PER_SECOND;

	if (schedule_parse(&plan->usual, NULL, given->period_ns, err) != 0)
		return err_prefix_option(err, "period");
	if (schedule_parse(&plan->usual, given->metric_groups, given->period_ns,
		err) != 0 ||
	    schedule_parse(&plan->dense, given->metric_groups, dense_ns, err) !=
		0)
		return err_prefix_option(err, "metric-groups");
	plan->dense_ns = given->dense_ns;
	return 0;
}

int
settings_check(const struct settings_given *given, struct err *err)
{
	struct sampler_plan plan;

	if (given->spool_bytes < SPOOL_BYTES_MIN)
		return err_set_option(err, "spool-bytes", "is at least %dKiB",
		    SPOOL_BYTES_MIN >> 10);
	if (given->segment_bytes < SPOOL_SEGMENT_BYTES_MIN)
		return err_set_option(err, "segment-bytes", "is at least %dKiB",
		    SPOOL_SEGMENT_BYTES_MIN >> 10);
	if (given->processes > JOB_CGROUPS_TOP_MAX)
		return err_set_option(
		    err, "processes", "is over %d", JOB_CGROUPS_TOP_MAX);
	if (given->throttle_percent > 100)
		return err_set_option(
		    err, "throttle-pressure", "must be at most 100 percent");
	if (broker_link_check(&given->broker, err) != 0)
		return err_prefix_option(err, "broker");
	return settings_plan(given, &plan, err);
}

/* The root of the control groups, if no option sets it. */
static void
sandbox_groups(const struct settings_given *given, struct sandbox *sandbox)
{
	const size_t room = 256 << 10;
	char path[PATH_MAX], *mounts;
	FILE *file;

	snprintf(path, sizeof(path), "%s/self/mountinfo", given->proc);
	file = fopen(path, "re");
	if (file == NULL)
		return;
	mounts = memory_alloc(room);
	if (job_cgroups_root(
		path, (struct text){
			  mounts, (uint32_t)fread(mounts, 1, room, file) }))
		sandbox_read(sandbox, path);
	free(mounts);
	fclose(file);
}

/* The existing device files of NVIDIA's driver. */
static void
sandbox_devices(struct sandbox *sandbox)
{
	glob_t found;

	if (glob("/dev/nvidia*", 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		sandbox_update(sandbox, found.gl_pathv[i]);
	globfree(&found);
}

bool
settings_sandbox(const struct settings_given *given, struct sandbox *sandbox)
{
	sandbox_sockets();
	sandbox_socket_or(sandbox, given->socket, "run/agent.sock");
	sandbox_write_or(sandbox, given->spool, "spool");
	sandbox_write_or(sandbox, given->fallback, "fallback");
	sandbox_read_or(sandbox, given->key.key, "keys/agent.key");
	sandbox_read(sandbox, given->proc);
	sandbox_read(sandbox, "/sys");
	if (given->sys != NULL)
		sandbox_read(sandbox, given->sys);
	if (given->group_root != NULL)
		sandbox_read(sandbox, given->group_root);
	else
		sandbox_groups(given, sandbox);
	sandbox_devices(sandbox);
	return true;
}

int
settings_resolve(const struct settings_given *given, struct settings *settings,
    struct err *err)
{
	char run[INSTANCE_PATH_BYTES];
	const struct opt_list *brokers = &settings->broker_link.list;
	const char *partition_why, *node_why;

	if (settings_plan(given, &settings->plan, err) != 0 ||
	    instance_partition(settings->partition, given->partition,
		&partition_why, err) != 0 ||
	    instance_node(settings->node, given->node, &node_why, err) != 0 ||
	    path_or(settings->socket, given->socket, "run/agent.sock", err) !=
		0 ||
	    path_or(settings->spool_dir, given->spool, "spool", err) != 0 ||
	    path_or(settings->fallback_queue, given->fallback, "fallback",
		err) != 0)
		return -1;
	if (broker_link_choose(
		&settings->broker_link, &given->broker, &given->key, err) != 0)
		return -1;
	if (given->socket == NULL && (instance_path(run, "run", err) != 0 ||
					 instance_make_dir(run, err) != 0))
		return -1;
	settings->compress = given->compress;
	if (opt_origin_of(&given->compress) == OPT_DEFAULT)
		settings->compress = any_is_tcp(brokers);
	log_info("partition=%s (%s) node=%s (%s) broker=%s",
	    settings->partition, partition_why, settings->node, node_why,
	    brokers->at[0]);
	for (uint32_t i = 1; i < brokers->count; i++)
		log_info("failover broker=%s", brokers->at[i]);
	return 0;
}

struct spool_options
settings_spool(const struct settings_given *given)
{
	return (struct spool_options){
		.bytes_max = given->spool_bytes,
		.segment_bytes = given->segment_bytes,
		.retain_bytes = given->retain_bytes,
		.retain_ns = 24 * 3600 * NS_PER_SECOND,
		.free_bytes_min = given->free_bytes,
	};
}
