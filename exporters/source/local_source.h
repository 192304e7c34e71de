/*
 * local_source - pages of a store on this machine.
 *
 * To a store what remote_source.h is to a door: a page asked for ahead is made
 * by a thread beside while the last one is read. SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_LOCAL_SOURCE_H
#define EXPORTERS_SOURCE_LOCAL_SOURCE_H

#include <stdbool.h>

#include "aggregator/query/reader.h"
#include "exporters/source/source.h"

struct near; /* opaque */

/* `reader` is near's until near_free, which closes it. */
struct near *near_new(struct reader *reader);
void near_free(struct near **near);

/* A question; its texts are the caller's. */
struct near_question {
	enum source_what what;
	struct text partition;
	const struct wire_query *query;
};

/* The answer's body is a view, valid until the next question. */
int near_ask(struct near *near, const struct near_question *question,
    struct wire_header *answer, struct text *body, struct err *err);

/* Begin with a copy of the question.  The next near_ask must be this one,
 * unless it is forgotten. */
void near_ask_ahead(struct near *near, const struct near_question *question);
void near_forget(struct near *near);

#endif
