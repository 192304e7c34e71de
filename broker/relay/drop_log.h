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

struct drop_log {
	const struct relay *relay; /* whose */
	struct loop_timer summary;
	uint64_t reported; /* that the log knows of */
};

/* The relay must outlive its drops. */
void drop_log_init(struct drop_log *drop_log, const struct relay *relay);

uint64_t drop_log_sum(const struct drop_log *drop_log);

/* Something may have been dropped: the log hears of it within a minute. */
void drop_log_note(struct drop_log *drop_log);

#endif
