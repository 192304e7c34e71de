/*
 * poolscope-agent - takes records on this host, stores them on disk, and sends
 * them until the aggregator has them.
 *
 * One loop, one thread.  In a round of the loop the clients, the fallback
 * queue and the sampler add records to the batcher.  At the end of the round
 * the agent commits once, answers the clients, and only then lets the uplink
 * send.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "agents/accept/batcher.h"
#include "agents/accept/fallback_reader.h"
#include "agents/accept/requests.h"
#include "agents/daemon/preempt.h"
#include "agents/daemon/replay.h"
#include "agents/daemon/settings.h"
#include "agents/delivery/spool_uplink.h"
#include "agents/sampler/sampler.h"
#include "agents/spool/spool.h"
#include "proto/auth/client_key.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/service/service.h"

/* How often a full spool is checked for segments to delete. */
#define TIDY_NS (1 * NS_PER_SECOND)

struct agent {
	struct settings_given given;
	struct loop *loop;
	struct spool *spool;
	struct batcher *batcher;
	struct spool_uplink *spool_uplink;
	struct requests *requests;
	struct fallback_reader *fallback_reader;
	struct sampler *sampler;
	struct preempt *preempt;
	struct loop_timer drain;
	uint64_t commits; /* the commits that the uplink last heard of */
	uint64_t jobs;    /* that began, of which the sampler has heard */
	int failures;     /* failures of the disk in a row */
	int64_t logged_ns, tidied_ns, given_up_ns;
	uint64_t given_up; /* batches, as of the last line in the log */
	uint64_t given_up_known;
	bool stopping, is_done; /* all is sent */
	struct settings settings;
	char why[NAME_BYTES_MAX + 1]; /* of `forbids` */
};

static bool
has_passed(int64_t *last_ns, int64_t period_ns)
{
	int64_t now_ns = clock_monotonic_ns();

	if (*last_ns != 0 && now_ns - *last_ns < period_ns)
		return false;
	*last_ns = now_ns;
	return true;
}

/* The disk failed during a commit.  The agent refused the records of that
 * commit, so nothing is lost.  After two failures in a row it exits: an
 * operator, or a restart, must help. */
static void
disk_failed(struct agent *agent, const struct err *err)
{
	log_error(
	    "the spool cannot be written, refusing its records: %s", err->text);
	if (++agent->failures > 1)
		loop_quit(agent->loop, EXIT_FAILURE);
}

static void
commit(void *arg)
{
	struct agent *agent = arg;
	struct err err = { 0 };

	switch (batcher_commit(agent->batcher, &err)) {
	case BATCHER_IO: disk_failed(agent, &err); break;
	case BATCHER_FULL:
		if (log_is_due(&agent->logged_ns))
			log_warn(
			    "spool is full, refusing records: %s", err.text);
		if (has_passed(&agent->tidied_ns, TIDY_NS))
			spool_uplink_tidy(agent->spool_uplink);
		break;
	default:
		if (batcher_counters(agent->batcher)->commits != agent->commits)
			agent->failures = 0;
		break;
	}
}

/* The aggregator hears after the last records that this node stops: otherwise
 * it would be missed. */
static void
quit_when_done(struct agent *agent)
{
	if (!agent->stopping || !spool_uplink_is_done(agent->spool_uplink))
		return;
	agent->is_done = true;
	if (spool_uplink_say_bye(agent->spool_uplink))
		loop_quit(agent->loop, EXIT_SUCCESS);
}

/* The spool needed the room of what is forbidden. */
static void
note_given_up(struct agent *agent)
{
	uint64_t count = spool_given_up(agent->spool);

	if (count != agent->given_up_known)
		requests_given_up(agent->requests);
	agent->given_up_known = count;
	if (count == agent->given_up || !log_is_due(&agent->given_up_ns))
		return;
	log_warn("the spool needed room: gave up %llu batch%s, the oldest of "
		 "partitions that nobody takes; if that changes, a gap is sent "
		 "in their place",
	    (unsigned long long)(count - agent->given_up),
	    count - agent->given_up == 1 ? "" : "es");
	agent->given_up = count;
}

static void
note_jobs(struct agent *agent)
{
	uint64_t jobs = batcher_counters(agent->batcher)->jobs;

	if (jobs != agent->jobs && agent->sampler != NULL)
		sampler_begin_job(agent->sampler);
	agent->jobs = jobs;
}

/* The end of the round: commit, then send. */
static void
on_round(void *arg)
{
	struct agent *agent = arg;
	uint64_t commits;

	if (agent->given.clock)
		sampler_watch_clock(agent->sampler);
	commit(agent);
	note_given_up(agent);
	note_jobs(agent);
	commits = batcher_counters(agent->batcher)->commits;
	if (commits != agent->commits)
		spool_uplink_push(agent->spool_uplink);
	agent->commits = commits;
	quit_when_done(agent);
}

static void
on_acked(void *arg)
{
	struct agent *agent = arg;

	requests_acked(agent->requests);
}

static void
on_refused(void *arg, uint32_t stream, uint64_t seq, enum wire_reason reason)
{
	struct agent *agent = arg;

	requests_refused(agent->requests, stream, seq, reason);
}

static void
on_forbidden(void *arg, uint32_t stream)
{
	struct agent *agent = arg;

	requests_forbidden(agent->requests, stream);
}

/* For requests: the text is valid until the next call. */
static struct text
forbids(void *arg, uint32_t stream)
{
	struct agent *agent = arg;

	return spool_uplink_forbids(agent->spool_uplink, stream, agent->why);
}

static void
on_moved(void *arg, uint32_t from, uint32_t to)
{
	struct agent *agent = arg;

	requests_moved(agent->requests, from, to);
	if (agent->sampler != NULL)
		sampler_renew(agent->sampler);
}

static bool
on_probed(void *arg, const struct clock_offset_probe *probe)
{
	struct agent *agent = arg;

	return agent->given.clock && sampler_probed(agent->sampler, probe);
}

static void
on_hold(void *arg, bool hold)
{
	struct agent *agent = arg;

	spool_uplink_hold(agent->spool_uplink, hold);
	if (!hold)
		spool_uplink_push(agent->spool_uplink);
}

/* ---- start ---- */

static int
open_spool(struct agent *agent, struct err *err)
{
	struct spool_options spool = settings_spool(&agent->given);
	struct batcher_options batcher = {
		.partition = text_of(agent->settings.partition),
		.node = text_of(agent->settings.node),
		.compress = agent->settings.compress,
	};
	const struct spool_counters *found;
	char session[33];
	uint32_t own;

	if (spool_open(&agent->spool, agent->settings.spool_dir, &spool, err) !=
	    0)
		return -1;
	batcher.spool = agent->spool;
	batcher.arg = agent;
	batcher.forbids = forbids;
	/* First, so that there is always a place for it. */
	if ((agent->given.samples || agent->given.clock) &&
	    spool_stream(agent->spool, batcher.partition, &own, err) != 0)
		return -1;
	batcher_new(&agent->batcher, &batcher);
	batcher_load_dedup(agent->batcher);
	found = spool_counters(agent->spool);
	log_info("opened the spool: session=%s start=%llu unacked=%llu "
		 "torn_bytes=%llu quarantined=%llu",
	    session_text(session, spool_session(agent->spool)),
	    (unsigned long long)spool_start_count(agent->spool),
	    (unsigned long long)found->unacked_batches,
	    (unsigned long long)found->torn_bytes,
	    (unsigned long long)found->quarantined);
	if (found->quarantined > 0)
		log_warn("the spool: %llu of its segments are damaged or hold "
			 "nothing that can be read (copies: %s/quarantine); "
			 "what is lost with them is reported as a gap",
		    (unsigned long long)found->quarantined,
		    agent->settings.spool_dir);
	return 0;
}

static int
open_uplink(struct agent *agent, struct err *err)
{
	struct spool_uplink_options uplink = {
		.loop = agent->loop,
		.spool = agent->spool,
		.broker_link = &agent->settings.broker_link,
		.partition = text_of(agent->settings.partition),
		.node = text_of(agent->settings.node),
		.arg = agent,
		.commit = commit,
		.on_acked = on_acked,
		.on_refused = on_refused,
		.on_moved = on_moved,
		.on_forbidden = on_forbidden,
		.on_probed = on_probed,
	};

	return spool_uplink_open(&agent->spool_uplink, &uplink, err);
}

static int
open_requests(struct agent *agent, struct err *err)
{
	struct requests_options requests = {
		.loop = agent->loop,
		.batcher = agent->batcher,
		.spool = agent->spool,
		.socket = agent->settings.socket,
		.partition = text_of(agent->settings.partition),
		.node = text_of(agent->settings.node),
		.arg = agent,
		.commit = commit,
		.forbids = forbids,
	};

	return requests_open(&agent->requests, &requests, err);
}

/* An agent without a fallback queue is better than none. */
static void
open_fallback(struct agent *agent)
{
	struct fallback_reader_options fallback = {
		.loop = agent->loop,
		.batcher = agent->batcher,
		.dir = agent->settings.fallback_queue,
		.arg = agent,
		.commit = commit,
		.hold = on_hold,
	};
	struct err err = { 0 };

	if (fallback_reader_open(&agent->fallback_reader, &fallback, &err) != 0)
		log_warn("fallback queue not available, events in it are not "
			 "read: %s",
		    err.text);
	else
		fallback_reader_round(agent->fallback_reader);
}

static void
read_counters(void *arg, struct sampler_counters *counters)
{
	struct agent *agent = arg;

	counters->batcher = batcher_counters(agent->batcher);
	counters->spool = spool_counters(agent->spool);
	counters->sender = spool_uplink_counters(agent->spool_uplink);
	counters->moves = spool_uplink_moves(agent->spool_uplink);
	counters->listener = requests_counters(agent->requests);
	counters->clients = requests_clients(agent->requests);
}

static struct sampler_options
sampler_as_given(struct agent *agent, struct clock_offset_now began)
{
	struct sampler_options sampler = {
		.loop = agent->loop,
		.batcher = agent->batcher,
		.node = text_of(agent->settings.node),
		.began = began,
		.plan = agent->settings.plan,
		.send_interval_ns = agent->given.send_interval_ns,
		.throttle_percent = (double)agent->given.throttle_percent,
		.proc = agent->given.proc,
		.sys = agent->given.sys,
		.groups = agent->given.groups,
		.root = agent->given.group_root,
		.processes = (uint32_t)agent->given.processes,
		.arg = agent,
		.commit = commit,
		.start_count = spool_start_count(agent->spool),
		.counters = read_counters,
	};

	/* Without samples the clock is still reported. */
	if (!agent->given.samples)
		sampler.plan = (struct sampler_plan){ .dense_ns = 0 };
	return sampler;
}

/* This host is about to be preempted: send everything now. */
static void
on_preempted(void *arg, const char *why)
{
	struct agent *agent = arg;

	log_info("preemption notice (%s): sending everything now", why);
	if (agent->given.samples)
		sampler_urge(agent->sampler, why);
	on_round(agent);
}

static int
start(void *arg, struct loop *loop, struct err *err)
{
	struct agent *agent = arg;
	/* Read the clock's offset before a listener opens: the first records
	 * get a corrected time as well. */
	struct clock_offset_now began = clock_offset_now();
	struct sampler_options sampler;

	agent->loop = loop;
	if (settings_resolve(&agent->given, &agent->settings, err) != 0 ||
	    open_spool(agent, err) != 0 || open_uplink(agent, err) != 0 ||
	    open_requests(agent, err) != 0)
		return -1;
	open_fallback(agent);
	sampler = sampler_as_given(agent, began);
	sampler_open(&agent->sampler, &sampler);
	if (preempt_open(&agent->preempt, loop, agent->given.preempt_file,
		on_preempted, agent, err) != 0)
		return -1;
	loop_set_idle(loop, on_round, agent);
	spool_uplink_push(agent->spool_uplink);
	return 0;
}

static int
renew_client_key(void *arg, struct loop *loop, struct err *err)
{
	struct agent *agent = arg;
	int rc = client_key_renew(err);

	(void)loop;
	spool_uplink_renew_key(agent->spool_uplink);
	return rc;
}

static const struct service_renewal renewals[] = {
	{ "client key", renew_client_key },
	{ .what = NULL },
};

static int
reload(void *arg, struct loop *loop, struct err *err)
{
	struct agent *agent = arg;
	struct spool_options spool = settings_spool(&agent->given);
	struct sampler_options sampler;

	(void)loop;
	if (settings_plan(&agent->given, &agent->settings.plan, err) != 0)
		return -1;
	sampler = sampler_as_given(agent, (struct clock_offset_now){ 0 });
	spool_change(agent->spool, &spool);
	sampler_change(agent->sampler, &sampler);
	return 0;
}

/* ---- stop ---- */

static void
on_drained(void *arg, struct loop_timer *timer)
{
	struct agent *agent = arg;

	(void)timer;
	if (agent->is_done)
		log_info("the aggregator did not answer that this node stops: "
			 "it may count as silent");
	else
		log_info(
		    "unacknowledged batches that stay in the spool, and are "
		    "sent after the next start: %llu",
		    (unsigned long long)spool_counters(agent->spool)
			->unacked_batches);
	loop_quit(agent->loop, EXIT_SUCCESS);
}

static void
stop(void *arg, struct loop *loop)
{
	struct agent *agent = arg;

	agent->stopping = true;
	sampler_stop(agent->sampler);
	fallback_reader_close(&agent->fallback_reader);
	requests_stop(agent->requests);
	on_round(agent);
	/* Close the sampler only after its samples are committed. */
	sampler_close(&agent->sampler);
	preempt_close(&agent->preempt);
	agent->drain.on_timer = on_drained;
	agent->drain.arg = agent;
	loop_set_timer(loop, &agent->drain,
	    clock_monotonic_ns() + agent->given.drain_ns, 0);
}

static void
clear(void *arg)
{
	struct agent *agent = arg;

	preempt_close(&agent->preempt);
	sampler_close(&agent->sampler);
	fallback_reader_close(&agent->fallback_reader);
	requests_close(&agent->requests);
	if (agent->spool_uplink != NULL)
		spool_uplink_tidy(agent->spool_uplink);
	spool_uplink_close(&agent->spool_uplink);
	batcher_free(&agent->batcher);
	spool_close(&agent->spool);
}

static int
check(const void *values, struct err *err)
{
	return settings_check(values, err);
}

static bool
declare_files(const void *values, struct sandbox *sandbox)
{
	return settings_sandbox(values, sandbox);
}

static bool
run_command(void *arg, const struct opt_operands *operands, int *status)
{
	const struct agent *agent = arg;

	if (agent->given.replay)
		*status = replay_run(operands);
	return agent->given.replay;
}

int
main(int argc, char **argv)
{
	struct agent agent = { .given = settings_default };
	const struct service service = {
		.name = "poolscope-agent",
		.summary = "accept records on this host and send them to the "
			   "aggregator",
		.examples = "poolscope agent -p 'acct$pool'\n"
			    "poolscope agent -p 'acct$pool' --broker "
			    "tcp://head:5570 --key nodes.key\n",
		.options = settings_table,
		.values = &agent.given,
		.arg = &agent,
		.check = check,
		.declare_files = declare_files,
		.run_command = run_command,
		.start = start,
		.stop = stop,
		.renewals = renewals,
		.reload = reload,
		.clear = clear,
	};

	return service_main(&service, argc, argv);
}
