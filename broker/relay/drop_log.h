/*
 * drop_log - counts and logs the messages that a broker drops.
 *
 * Writes at most one line a minute, and only while the sum over all reasons
 * grows.
 * SPDX-License-Identifier: MIT
 */
#ifndef BROKER_RELAY_DROP_LOG_H
#define BROKER_RELAY_DROP_LOG_H

#include <stdint.h>

#include "proto/net/loop/loop.h"

struct relay;

struct drop_log {
	const struct relay *relay; /* the relay whose drops are counted */
	struct loop_timer summary;
	uint64_t reported; /* the sum that was logged last */
};

/* The relay must outlive its drop log. */
void drop_log_init(struct drop_log *drop_log, const struct relay *relay);

uint64_t drop_log_sum(const struct drop_log *drop_log);

/* A message may have been dropped: log within a minute. */
void drop_log_note(struct drop_log *drop_log);

#endif
