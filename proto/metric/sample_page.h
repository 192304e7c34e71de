/*
 * sample_page - samples that come one by one, as dynamic groups: those of the
 * same labels and time together.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_METRIC_SAMPLE_PAGE_H
#define PROTO_METRIC_SAMPLE_PAGE_H

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/metric/dynamic_group.h"

struct sample_page; /* opaque */

void sample_page_new(struct sample_page **page);
void sample_page_free(struct sample_page **page);

/* Add a number; its labels are sorted, and copied.  Its name and unit must
 * outlive the page.  on_bad gets `line`.  -1: the name,
 * the unit or a label is wrong. */
int sample_page_add(struct sample_page *page,
    const struct dynamic_number *number, struct dynamic_label *label,
    uint32_t labels, int64_t time_ns, uint64_t line, struct err *err);

struct sample_page_calls {
	void *arg;
	/* A group of one moment; any other value than 0 ends the calls. */
	int (*on_group)(void *arg, const struct dynamic_group *group);
	/* A number that its group has already, and which is left out. */
	void (*on_bad)(void *arg, uint64_t line, const struct err *err);
};

/* All groups, of this origin (a name of at most 200 bytes) and boot, in the
 * order in which they began.  Returns what on_group did. */
int sample_page_groups(struct sample_page *page, struct text origin,
    uint64_t boot, const struct sample_page_calls *calls);

#endif
