/*
 * relay_drop_log - counts and logs the messages that a broker drops.
 * SPDX-License-Identifier: MIT
 */
#include "broker/relay/relay_drop_log.h"

#include <inttypes.h>

#include "broker/relay/relay.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

#define SUMMARY_NS (60 * NS_PER_SECOND)

/* Messages with a wrong number of frames, from both directions. */
static uint64_t
invalid(const struct relay *relay)
{
	uint64_t sum = relay->counters.invalid +
		       zsock_counters(relay->listener)->malformed;

	for (uint32_t i = 0; i < relay->upstreams; i++)
		sum += zsock_counters(relay->upstream[i].zsock)->malformed;
	return sum;
}

uint64_t
relay_drop_log_sum(const struct relay_drop_log *drop_log)
{
	const struct relay *relay = drop_log->relay;
	const struct relay_counters *c = &relay->counters;
	const struct zsock_counters *listener = zsock_counters(relay->listener);
	struct auth_counters auth;

	auth_counters(relay->auth, &auth);
	/* c->refused includes c->malformed. */
	return c->busy + c->owner + c->refused + c->unsolicited +
	       c->unforwarded + invalid(relay) + listener->unreachable +
	       listener->full + listener->unkeyed + auth_forbidden(&auth);
}

static void
on_summary(void *arg, struct loop_timer *timer)
{
	struct relay_drop_log *drop_log = arg;
	const struct relay *relay = drop_log->relay;
	const struct relay_counters *c = &relay->counters;
	const struct zsock_counters *listener = zsock_counters(relay->listener);
	struct auth_counters auth;
	uint64_t now = relay_drop_log_sum(drop_log);

	(void)timer;
	auth_counters(relay->auth, &auth);
	log_warn("dropped %" PRIu64
		 " messages in the last minute; totals: busy=%" PRIu64
		 " owner=%" PRIu64 " refused=%" PRIu64 " unsolicited=%" PRIu64
		 " unforwarded=%" PRIu64 " malformed=%" PRIu64
		 " unreachable=%" PRIu64 " full=%" PRIu64 " forbidden=%" PRIu64
		 " unkeyed=%" PRIu64,
	    now - drop_log->reported, c->busy, c->owner, c->refused,
	    c->unsolicited, c->unforwarded, invalid(relay),
	    listener->unreachable, listener->full, auth_forbidden(&auth),
	    listener->unkeyed);
	drop_log->reported = now;
}

void
relay_drop_log_init(struct relay_drop_log *drop_log, const struct relay *relay)
{
	*drop_log = (struct relay_drop_log){ .relay = relay };
	drop_log->summary.on_timer = on_summary;
	drop_log->summary.arg = drop_log;
}

void
relay_drop_log_note(struct relay_drop_log *drop_log)
{
	if (drop_log->summary.at_ns == 0 &&
	    relay_drop_log_sum(drop_log) != drop_log->reported)
		loop_set_timer(drop_log->relay->loop, &drop_log->summary,
		    clock_monotonic_ns() + SUMMARY_NS, 0);
}
