/*
 * question - questions to the archive whose answers are lines of numbers.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_QUESTION_H
#define AGGREGATOR_ARCHIVE_QUESTION_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/clickhouse/client.h"

/* Which replica is asked, and for messages. */
struct question {
	struct clickhouse *client;
	unsigned shard, replica;
};

/* Ask; the answer has a line for each row.  `answer` is a view, valid until the
 * next request. */
int question_ask(const struct question *question, struct text *answer,
    struct err *err, const char *sql, ...)
    __attribute__((format(printf, 4, 5)));
/* The next line as `count` unsigned numbers (negative ones modulo 2^64).  0:
 * there is none; -1: it is something else. */
int question_row(const struct question *question, struct text *answer,
    uint64_t *numbers, unsigned count, struct err *err);
/* Ask for one row of numbers. */
int question_numbers(const struct question *question, uint64_t *numbers,
    unsigned count, struct err *err, const char *sql, ...)
    __attribute__((format(printf, 5, 6)));
/* Visit every replica of every shard: what one of them has counts.  -1: of a
 * shard none answers. */
typedef int question_visitor(
    void *arg, const struct question *question, struct err *err);
int question_shard(struct clickhouse *client, unsigned shard,
    question_visitor *visit, void *arg, struct err *err);
int question_each(struct clickhouse *client, question_visitor *visit, void *arg,
    struct err *err);
/* How many replicas of a shard must have something until it counts: two, or the
 * only one. */
unsigned question_copies(struct clickhouse *client, unsigned shard);
/* "shard 1, replica r2". */
const char *question_place(
    const struct question *question, char *room, size_t bytes);
enum { QUESTION_PLACE_BYTES = CLICKHOUSE_NAME_BYTES + 32 };

#endif
