/*
 * outlet - where a source hands its numbers to the agent.
 *
 * It is bounded as the agent is (accept/series_limit.h), so that series too
 * many are not sent at every turn; what the agent refuses nevertheless is
 * refused group by group.  Numbers are counted in the report of the source.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_RECEIVER_OUTLET_H
#define AGENTS_RECEIVER_OUTLET_H

#include "agents/receiver/source.h"
#include "agents/submit/prometheus_page.h"

struct outlet; /* opaque; belongs to the thread of the source */

void outlet_new(struct outlet **outlet, struct receiver_source *source);
void outlet_free(struct outlet **outlet);

/* Read the page, whose origin, labels, time, `wants`, and `arg` for that are
 * set, and hand over what it has.  Without a boot its counters get that of the
 * receiver.  `is_new`: count and report its wrong lines.
 * False: the agent did not take all; that is logged once a minute, counted as
 * lost, and not tried again. */
bool outlet_page(
    struct outlet *outlet, struct prometheus_page *page, bool is_new);

/* The same for single groups: they wait until outlet_flush. */
void outlet_group(struct outlet *outlet, const struct dynamic_group *group);
/* Numbers of the source itself, which are sorted; few, and correct. */
void outlet_numbers(struct outlet *outlet, struct text origin,
    struct dynamic_label *label, uint32_t labels, struct dynamic_number *number,
    uint32_t numbers, int64_t time_ns);
bool outlet_flush(struct outlet *outlet);

#endif
