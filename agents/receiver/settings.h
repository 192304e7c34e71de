/*
 * settings - the receiver's options.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_SETTINGS_H
#define AGENTS_RECEIVER_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/config/opt.h"

#define RECEIVER_SCRIPT_KEYS "period|timeout|user|command"
#define RECEIVER_SCRAPE_KEYS "period|keep|drop|buckets|url"

/* The values that the options were given, else the defaults. */
struct receiver_settings {
	const char *socket; /* of the agent */
	int64_t timeout_ns;
	int64_t period_ns; /* of statsd, and of the reports */

	/* The textfile folder. */
	const char *textfile;
	int64_t textfile_period_ns;

	/* Sections (opt_section.h). */
	struct opt_list script, scrape;
	bool scrape_remote;
	/* statsd. */
	const char *statsd_socket, *statsd_udp;
	/* OTLP. */
	uint64_t otlp_port; /* 0: not */
	bool otlp_logs;
	struct opt_list otlp_resource;
};
extern const struct receiver_settings receiver_settings_default;
/* Bound to a struct receiver_settings. */
extern const struct opt receiver_settings_table[];

#endif
