/*
 * answer - an entity that the aggregator itself makes, such as statistics.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_PAGE_ANSWER_H
#define AGGREGATOR_QUERY_PAGE_ANSWER_H

#include "aggregator/query/page/page.h"

enum { ANSWER_ROOM = 8192 }; /* of properties; further properties are dropped */

struct answer {
	struct record record;
	struct wire_writer w;
	unsigned char bytes[ANSWER_ROOM];
};

void answer_start(struct answer *answer, struct text kind, struct text id);
void answer_put(
    struct answer *answer, const char *name, const struct value *value);
void answer_put_int(struct answer *answer, const char *name, uint64_t number);
void answer_put_word(struct answer *answer, const char *name, struct text text);
void answer_put_bool(struct answer *answer, const char *name, bool yes);
/* Add count, sum, min, max, mean, deviations and quantiles; nil is a number
 * that too few durations do not have. */
void answer_put_stats(
    struct answer *answer, const struct duration_stats *stats);
/* Append the entity to the page; false: the page is full. */
bool answer_append(struct page *page, struct answer *answer);

#endif
