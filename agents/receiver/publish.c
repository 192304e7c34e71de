/*
 * publish - the source that publishes the reports of all others.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/publish.h"

#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/os/clock.h"

/* How often. */
#define PERIOD_NS (10 * NS_PER_SECOND)

static void
run(struct receiver_source *source)
{
	int64_t next_ns = clock_monotonic_ns() + PERIOD_NS;

	while (receiver_sleep(source, next_ns))
		next_ns += PERIOD_NS;
}

static void
close_it(struct receiver_source *source)
{
	free(source);
}

int
publish_add(struct receiver *receiver, struct err *err)
{
	struct receiver_source *source = memory_zero(1, sizeof(*source));

	source->name = "receiver";
	source->run = run;
	source->close = close_it;
	return receiver_add(receiver, source, err);
}
