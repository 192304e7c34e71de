/*
 * relay_drop_log - counts and logs the messages that a broker drops.
 *
 * Writes at most one line a minute, and only while the sum over all reasons
 * grows.
 * SPDX-License-Identifier: MIT
 */
#ifndef BROKER_RELAY_RELAY_DROP_LOG_H
#define BROKER_RELAY_RELAY_DROP_LOG_H

#include <stdint.h>

#include "proto/net/loop/loop.h"

struct relay;

struct relay_drop_log {
	const struct relay *relay; /* the relay whose drops are counted */
	struct loop_timer summary;
	uint64_t reported; /* the sum that was logged last */
};

/* The relay must outlive its drop log. */
void relay_drop_log_init(
    struct relay_drop_log *drop_log, const struct relay *relay);

uint64_t relay_drop_log_sum(const struct relay_drop_log *drop_log);

/* A message may have been dropped: log within a minute. */
void relay_drop_log_note(struct relay_drop_log *drop_log);

#endif
