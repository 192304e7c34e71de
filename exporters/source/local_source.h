/*
 * local_source - pages of a store on this machine.
 *
 * To a store what remote_source.h is to a listener: a page asked for ahead is
 * made by a thread beside while the last one is read. SPDX-License-Identifier:
 * MIT
 */
#ifndef EXPORTERS_SOURCE_LOCAL_SOURCE_H
#define EXPORTERS_SOURCE_LOCAL_SOURCE_H

#include <stdbool.h>

#include "aggregator/query/reader.h"
#include "exporters/source/source.h"

struct local_source; /* opaque */

/* `reader` is near's until local_source_free, which closes it. */
struct local_source *local_source_new(struct reader *reader);
void local_source_free(struct local_source **local_source);

/* A question; its texts are the caller's. */
struct local_source_question {
	enum source_what what;
	struct text partition;
	const struct wire_query *query;
};

/* The answer's body is a view, valid until the next question. */
int local_source_ask(struct local_source *local_source,
    const struct local_source_question *question, struct wire_header *answer,
    struct text *body, struct err *err);

/* Begin with a copy of the question.  The next local_source_ask must be this
 * one, unless it is forgotten. */
void local_source_ask_ahead(struct local_source *local_source,
    const struct local_source_question *question);
void local_source_forget(struct local_source *local_source);

#endif
