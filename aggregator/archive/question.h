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
/* Visit every replica of a shard: what one of them has counts.  Those that are
 * silent (clickhouse_order) are asked if no other one answers.  -1: none
 * does. */
typedef int question_visitor(
    void *arg, const struct question *question, struct err *err);
int question_shard(struct clickhouse *client, unsigned shard,
    question_visitor *visit, void *arg, struct err *err);
/* The same of every shard. */
int question_each(struct clickhouse *client, question_visitor *visit, void *arg,
    struct err *err);
/* One replica after another until one has answered, or has run a statement. */
int question_any(struct clickhouse *client, unsigned shard,
    question_visitor *visit, void *arg, struct err *err);
int question_run(
    struct clickhouse *client, unsigned shard, char *sql, struct err *err);
/* How many replicas of a shard must have something until it counts: two, or the
 * only one. */
enum { QUESTION_COPIES = 2 };
unsigned question_copies(struct clickhouse *client, unsigned shard);
/* "shard 1, replica r2". */
const char *question_place(
    const struct question *question, char *room, size_t bytes);
enum { QUESTION_PLACE_BYTES = CLICKHOUSE_NAME_BYTES + 32 };

#endif
