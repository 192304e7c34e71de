/*
 * local_source - pages of a store on this machine.
 *
 * The counterpart of remote_source.h for a store directory: a worker thread
 * prefetches the next page while the caller reads the last one.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_LOCAL_SOURCE_H
#define EXPORTERS_SOURCE_LOCAL_SOURCE_H

#include <stdbool.h>

#include "aggregator/query/reader.h"
#include "exporters/source/source.h"

struct local_source; /* opaque */

/* Takes ownership of `reader`; local_source_free closes it. */
struct local_source *local_source_new(struct reader *reader);
void local_source_free(struct local_source **local_source);

/* A query; the caller owns its texts. */
struct local_source_question {
	enum source_what what;
	struct text partition;
	const struct wire_query *query;
};

/* The body of the answer is a view, valid until the next query. */
int local_source_ask(struct local_source *local_source,
    const struct local_source_question *question, struct wire_header *answer,
    struct text *body, struct err *err);

/* Start to prefetch a page; copies the query.  The next local_source_ask must
 * pass the same query, unless the prefetch is dropped. */
void local_source_ask_ahead(struct local_source *local_source,
    const struct local_source_question *question);
void local_source_forget(struct local_source *local_source);

#endif
