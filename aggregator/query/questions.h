/*
 * questions - the questions that wait: for the index, for their turn, or for
 * the page that is being made.
 *
 * A list of copies, bounded in number and bytes, in all and for each reader (a
 * connection).  The answers of a reader keep the order of its questions, and
 * one question of a reader is answered at a time.  Readers take turns: the
 * second question of one has its turn after the first of another.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_QUESTIONS_H
#define AGGREGATOR_QUERY_QUESTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"
#include "proto/net/zsock.h"

enum {
	QUESTIONS_MAX = 256,
	QUESTIONS_BYTES = 1 << 20, /* of their frames */
	QUESTIONS_OF_READER = 16,
};

struct question {
	struct route route;
	struct text frame;
	struct text readable; /* of a status: pattern of the partitions */
	uint64_t number; /* of the journal entry that must be indexed; 0: none
			  */
	int64_t received_ns;
	int64_t until_ns; /* monotonic; then it is answered all the same */
	bool is_complete; /* set by the caller: the entry is indexed */
	/* Private to questions.c: */
	uint64_t turn;
	bool is_first; /* of those of its reader */
	bool is_taken;
};

struct questions {
	uint32_t count, bytes;
	uint64_t turn; /* of the last question that was taken */
	struct question *at[QUESTIONS_MAX]; /* in the order of arrival */
};

void questions_clear(struct questions *questions);

/* Copies the question.  A repetition of one that is in the list already (an
 * impatient reader sends it again) gets the same answer. */
enum questions_added { QUESTIONS_ADDED, QUESTIONS_REPEATED, QUESTIONS_FULL };
enum questions_added questions_add(
    struct questions *questions, const struct question *question);

/* The question whose turn it is, among those that `is_ready` says yes to; NULL:
 * none.  It stays in the list until it is removed. */
struct question *questions_take(struct questions *questions,
    bool (*is_ready)(void *arg, struct question *question), void *arg);
void questions_remove(
    struct questions *questions, const struct question *question);
/* The reader of this route is gone: remove its questions that were not taken;
 * returns how many. */
uint32_t questions_forget(
    struct questions *questions, const struct route *route);

/* Do both routes begin with the same connection? */
bool questions_same_reader(const struct route *a, const struct route *b);

#endif
