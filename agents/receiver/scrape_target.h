/*
 * scrape_target - which exporter is asked, how often, and for which numbers.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_SCRAPE_TARGET_H
#define AGENTS_RECEIVER_SCRAPE_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"

struct scrape_target {
	char *name;
	char *url;         /* http:// or https:// */
	char *socket;      /* NULL, or of url = unix:PATH[:/PAGE] */
	char *keep, *drop; /* patterns, with commas; NULL: all, none */
	bool buckets;
	int64_t period_ns;
};

/* Make it of a section (opt_section.h).  Without `remote` the address must name
 * this host.  Call scrape_target_clear in any case. */
int scrape_target_parse(struct scrape_target *target, const char *word,
    bool remote, struct err *err);
void scrape_target_clear(struct scrape_target *target);

/* Are numbers of this name taken? */
bool scrape_target_wants(const struct scrape_target *target, struct text name);

/* When to begin, within the first period: not all targets at once, and each one
 * at the same time in each period. */
int64_t scrape_target_offset_ns(const struct scrape_target *target);

/* When the exporter says that it started (process_start_time_seconds): what its
 * counters count from.  0: it does not say. */
uint64_t scrape_target_boot(struct text page);

#endif
