/*
 * destinations - the targets of results, and what is remembered of them.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_DESTINATIONS_H
#define EXPORTERS_UPLOAD_DESTINATIONS_H

#include "agents/delivery/publisher.h"
#include "exporters/source/source.h"
#include "exporters/upload/targets/target.h"

enum { DESTINATIONS_MAX = OPT_LIST_MAX };

struct destination {
	const char *name;               /* as given */
	const struct target_type *type; /* NULL: the store */
	struct target *target;
};

struct destinations {
	struct destination at[DESTINATIONS_MAX];
	uint32_t count;
	bool store;  /* one of them is */
	bool others; /* one of them is not */
	struct text partition;
	struct source_options asked; /* the store that is */
	struct source *source;       /* opened when it is asked */
};

/* Is there such a target, and does it take results? */
int destinations_find(struct destinations *destinations, const char *const *to,
    uint32_t count, struct err *err);
int destinations_open(struct destinations *destinations, struct text partition,
    const struct source_options *asked, const struct http_options *how,
    struct err *err);
void destinations_close(struct destinations *destinations);

/* The file to every target but the store that does not have it yet; `*put`
 * says whether anything was put into `publish` about it.  `publish` NULL:
 * nobody is asked and nothing remembered.  -1: `*target` does not take it, or
 * NULL: what is remembered could not be had. */
int destinations_put(struct destinations *destinations,
    const struct result_file *result, struct publisher *publisher, bool *put,
    const char **target, struct err *err);

#endif
