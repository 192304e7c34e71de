/*
 * drop_log - what a broker drops.
 * SPDX-License-Identifier: MIT
 */
#include "broker/relay/drop_log.h"

#include <inttypes.h>

#include "broker/relay/relay.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

#define SUMMARY_NS (60 * NS_PER_SECOND)

/* Messages of a wrong number of frames, from below and from above. */
static uint64_t
misshapen(const struct relay *relay)
{
	uint64_t sum =
	    relay->counters.misshapen + port_counters(relay->door)->malformed;

	for (uint32_t i = 0; i < relay->lines; i++)
		sum += port_counters(relay->line[i].port)->malformed;
	return sum;
}

uint64_t
drops_sum(const struct drops *drops)
{
	const struct relay *relay = drops->relay;
	const struct relay_counters *c = &relay->counters;
	const struct port_counters *door = port_counters(relay->door);
	struct gate_counters gate;

	gate_counters(relay->gate, &gate);
	/* Each of c->malformed is one of c->refused, too. */
	return c->busy + c->owner + c->refused + c->unasked + c->unvouched +
	       misshapen(relay) + door->unreachable + door->full +
	       door->unkeyed + gate_forbidden(&gate);
}

static void
on_summary(void *arg, struct loop_timer *timer)
{
	struct drops *drops = arg;
	const struct relay *relay = drops->relay;
	const struct relay_counters *c = &relay->counters;
	const struct port_counters *door = port_counters(relay->door);
	struct gate_counters gate;
	uint64_t now = drops_sum(drops);

	(void)timer;
	gate_counters(relay->gate, &gate);
	log_warn("dropped %" PRIu64 " messages in a minute; so far "
		 "busy=%" PRIu64 " owner=%" PRIu64 " refused=%" PRIu64
		 " unasked=%" PRIu64 " unvouched=%" PRIu64 " misshapen=%" PRIu64
		 " unreachable=%" PRIu64 " full=%" PRIu64 " forbidden=%" PRIu64
		 " unkeyed=%" PRIu64,
	    now - drops->told, c->busy, c->owner, c->refused, c->unasked,
	    c->unvouched, misshapen(relay), door->unreachable, door->full,
	    gate_forbidden(&gate), door->unkeyed);
	drops->told = now;
}

void
drops_init(struct drops *drops, const struct relay *relay)
{
	*drops = (struct drops){ .relay = relay };
	drops->summary.on_timer = on_summary;
	drops->summary.arg = drops;
}

void
drops_note(struct drops *drops)
{
	if (drops->summary.at_ns == 0 && drops_sum(drops) != drops->told)
		loop_set_timer(drops->relay->loop, &drops->summary,
		    clock_monotonic_ns() + SUMMARY_NS, 0);
}
