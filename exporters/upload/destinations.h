/*
 * destinations - the targets of results, and what is remembered of them.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_DESTINATIONS_H
#define EXPORTERS_UPLOAD_DESTINATIONS_H

#include "agents/delivery/publisher.h"
#include "exporters/source/source.h"
#include "exporters/upload/targets/target.h"

enum { OUTLETS_MAX = OPT_LIST_MAX };

struct outlet {
	const char *name;               /* as given */
	const struct target_type *type; /* NULL: the store */
	struct target *target;
};

struct outlets {
	struct outlet at[OUTLETS_MAX];
	uint32_t count;
	bool store;  /* one of them is */
	bool others; /* one of them is not */
	struct text partition;
	struct source *source; /* opened when it is asked */
};

/* Is there such a target, and does it take results? */
int outlets_find(struct outlets *outlets, const char *const *to, uint32_t count,
    struct err *err);
int outlets_open(
    struct outlets *outlets, struct text partition, struct err *err);
void outlets_close(struct outlets *outlets);

/* The file to every target but the store that does not have it yet; `*put`
 * says whether anything was put into `publish` about it.  `publish` NULL:
 * nobody is asked and nothing remembered.  -1: `*target` does not take it, or
 * NULL: what is remembered could not be had. */
int outlets_put(struct outlets *outlets, const struct result_file *result,
    struct publish *publish, bool *put, const char **target, struct err *err);

#endif
