/*
 * destinations - the targets of results, and which of them have a file.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_UPLOAD_DESTINATIONS_H
#define EXPORTERS_UPLOAD_DESTINATIONS_H

#include "agents/delivery/publisher.h"
#include "exporters/source/source.h"
#include "exporters/upload/targets/target.h"

enum { DESTINATIONS_MAX = OPT_LIST_MAX };

struct destination {
	const char *name;               /* as the user gave it */
	const struct target_type *type; /* NULL: the store */
	struct target *target;
};

struct destinations {
	struct destination at[DESTINATIONS_MAX];
	uint32_t count;
	bool store;  /* a target is the store */
	bool others; /* a target is not the store */
	struct text partition;
	struct source_options asked; /* the store that records uploads */
	struct source *source;       /* opened on first use */
};

/* Does the target exist, and does it accept results? */
int destinations_find(struct destinations *destinations, const char *const *to,
    uint32_t count, struct err *err);
int destinations_open(struct destinations *destinations, struct text partition,
    const struct source_options *asked, const struct http_options *how,
    struct err *err);
void destinations_close(struct destinations *destinations);

/* Send the file to every target except the store that does not have it yet,
 * and record each success in `publish`; `*put` is set if a record was
 * submitted. With `publish` NULL nothing is queried or recorded.  Returns -1
 * if `*target` did not accept the file, or with `*target` NULL if the store
 * could not be queried. */
int destinations_put(struct destinations *destinations,
    const struct result_file *result, struct publisher *publisher, bool *put,
    const char **target, struct err *err);

#endif
