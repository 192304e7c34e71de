/*
 * network - chance, and the way between a machine and the aggregator.
 * SPDX-License-Identifier: MIT
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/fault/sim/sim.h"

#include "proto/hash/prng.h"

void
sim_wrong(struct sim *sim, const char *format, ...)
{
	va_list args;

	if (sim->wrong[0] != '\0')
		return; /* the first is the cause */
	va_start(args, format);
	vsnprintf(sim->wrong, sizeof(sim->wrong), format, args);
	va_end(args);
}

void
sim_trace(const struct sim *sim, const char *format, ...)
{
	va_list args;

	if (!sim->trace)
		return;
	printf("%12.6f ", (double)sim->now_ns / 1e9);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

void
sim_trace_frame(
    const struct sim *sim, const char *what, int machine, struct text frame)
{
	struct wire_header h;
	struct text body;
	uint32_t content = 0;

	if (!sim->trace || wire_open(frame, &h, &body) != WIRE_OK)
		return;
	if (h.type == WIRE_BATCH)
		memcpy(&content, body.at, sizeof(content));
	sim_trace(sim,
	    "%s m%d %s %s session %u %.*s seq %llu last %llu expect %llu "
	    "hash %llx gen %llx content %u sent %lld",
	    what, machine, wire_type_name(h.type),
	    h.type == WIRE_NACK ? wire_reason_name((enum wire_reason)h.reason)
				: "",
	    h.session.bytes[0], (int)h.partition.bytes, h.partition.at,
	    (unsigned long long)h.seq, (unsigned long long)h.last_seq,
	    (unsigned long long)h.expect, (unsigned long long)h.chain,
	    (unsigned long long)h.generation, content, (long long)h.sent_ns);
}

uint64_t
sim_random(struct sim *sim)
{
	return prng_bits(&sim->random);
}

uint32_t
sim_below(struct sim *sim, uint32_t bound)
{
	return (uint32_t)(sim_random(sim) % bound);
}

bool
sim_chance(struct sim *sim, uint32_t percent)
{
	return percent > 0 && sim_below(sim, 100) < percent;
}

static void
fly(struct sim *sim, int machine, bool to_broker, struct text frame)
{
	struct sim_flight *f;
	int64_t delay_ns = 100000 + sim_below(sim, 2000000);

	if (sim->flights == SIM_FLIGHTS)
		return; /* a queue was full: lost */
	/* Some take so long that others overtake them, whole lives even. */
	if (sim_chance(sim, sim->slow_percent))
		delay_ns += sim_below(sim, 3000) * INT64_C(1000000);
	f = &sim->flight[sim->flights++];
	f->at_ns = sim->now_ns + delay_ns;
	f->to = to_broker ? -1 : machine;
	f->from = machine;
	f->bytes = frame.bytes;
	memcpy(f->frame, frame.at, frame.bytes);
	sim->frames++;
}

void
sim_post(struct sim *sim, int machine, bool to_broker, struct text frame)
{
	if (frame.bytes > SIM_FLIGHT_BYTES || frame.bytes == 0) {
		sim_wrong(sim, "a frame of %u bytes", frame.bytes);
		return;
	}
	sim_trace_frame(sim, to_broker ? "sends" : "answer to", machine, frame);
	if (sim->now_ns < sim->cut_ns || sim_chance(sim, sim->loss_percent))
		return;
	fly(sim, machine, to_broker, frame);
	while (sim_chance(sim, sim->repeat_percent))
		fly(sim, machine, to_broker, frame);
}
