/*
 * answerer - a thread of the query server that makes one page at a time.
 *
 * It has a reader of its own and the memory of one page: 4 MiB for its body
 * and two frames, of which only what a page needs is ever touched.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_ANSWERER_H
#define AGGREGATOR_QUERY_ANSWERER_H

#include "aggregator/query/questions.h"
#include "aggregator/query/server_source.h"

struct answerer; /* opaque */
struct loop;

/* Opens a reader next to source->reader; `source` and `loop` must outlive it.
 * The loop is woken when a page is made. */
int answerer_new(struct answerer **answerer,
    const struct query_server_source *source, uint64_t generation,
    struct loop *loop, struct err *err);
/* Waits for the page that is being made. */
void answerer_free(struct answerer **answerer);

/* Begin to answer a valid question; it must not change until the answer is
 * taken.  `counters`: for a question about the status. */
void answerer_begin(struct answerer *answerer, const struct question *question,
    const struct query_server_status *counters);
/* The question that is being answered; NULL: none. */
const struct question *answerer_question(const struct answerer *answerer);
/* Was the last question one of the same reader? */
bool answerer_knows(
    const struct answerer *answerer, const struct question *question);

struct answerer_result {
	struct text frame; /* empty: the answer cannot be sent */
	bool failed;       /* in the store: the frame is a refusal */
	enum wire_type asked;
	struct err err; /* the reason */
};
/* False: the page is not made yet.  Otherwise the next question can begin; the
 * result is valid until then. */
bool answerer_take(
    struct answerer *answerer, const struct answerer_result **result);

#endif
