/*
 * drop_log - what a broker drops: the sum of all reasons, and one line a minute
 * in the log as long as it grows, never one without any.
 * SPDX-License-Identifier: MIT
 */
#ifndef BROKER_RELAY_DROP_LOG_H
#define BROKER_RELAY_DROP_LOG_H

#include <stdint.h>

#include "proto/net/loop.h"

struct relay;

struct drops {
	const struct relay *relay; /* whose */
	struct loop_timer summary;
	uint64_t told; /* that the log knows of */
};

/* The relay must outlive its drops. */
void drops_init(struct drops *drops, const struct relay *relay);

uint64_t drops_sum(const struct drops *drops);

/* Something may have been dropped: the log hears of it within a minute. */
void drops_note(struct drops *drops);

#endif
