/*
 * question - questions to the archive whose answers are lines of numbers.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/question.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/base/number.h"
#include "proto/os/heartbeat.h"

unsigned
question_copies(struct clickhouse *client, unsigned shard)
{
	unsigned replicas = clickhouse_cluster(client)->shard[shard].replicas;

	return replicas < QUESTION_COPIES ? replicas : QUESTION_COPIES;
}

int
question_shard(struct clickhouse *client, unsigned shard,
    question_visitor *visit, void *arg, struct err *err)
{
	unsigned order[CLICKHOUSE_REPLICAS_MAX];
	unsigned awake = clickhouse_order(client, shard, 0, order);
	unsigned replicas = clickhouse_cluster(client)->shard[shard].replicas;
	bool answered = false;

	for (unsigned i = 0; i < replicas && (i < awake || !answered); i++) {
		const struct question question = { client, shard, order[i] };

		answered |= visit(arg, &question, err) == 0;
	}
	return answered ? 0 : -1;
}

int
question_each(struct clickhouse *client, question_visitor *visit, void *arg,
    struct err *err)
{
	unsigned shards = clickhouse_cluster(client)->shards;

	for (unsigned s = 0; s < shards; s++)
		if (question_shard(client, s, visit, arg, err) != 0)
			return -1;
	return 0;
}

int
question_any(struct clickhouse *client, unsigned shard, question_visitor *visit,
    void *arg, struct err *err)
{
	unsigned order[CLICKHOUSE_REPLICAS_MAX];
	unsigned replicas = clickhouse_cluster(client)->shard[shard].replicas;
	int rc = -1;

	(void)clickhouse_order(client, shard, 0, order);
	for (unsigned i = 0; i < replicas && rc != 0; i++) {
		const struct question question = { client, shard, order[i] };

		rc = visit(arg, &question, err);
	}
	return rc;
}

static int
run(void *arg, const struct question *question, struct err *err)
{
	return clickhouse_run(
	    question->client, question->shard, question->replica, arg, err);
}

int
question_run(
    struct clickhouse *client, unsigned shard, char *sql, struct err *err)
{
	return question_any(client, shard, run, sql, err);
}

const char *
question_place(const struct question *question, char *room, size_t bytes)
{
	const struct clickhouse_shard *shard =
	    &clickhouse_cluster(question->client)->shard[question->shard];

	snprintf(room, bytes, "shard %u, replica %s", question->shard + 1,
	    shard->replica[question->replica].name);
	return room;
}

static int
ask(const struct question *question, struct text *answer, struct err *err,
    const char *sql, va_list values)
{
	char *statement = NULL;
	size_t bytes;
	FILE *to = memory_stream(&statement, &bytes);
	int rc;

	vfprintf(to, sql, values);
	memory_stream_end(&to);
	/* An answer may take longer than the watchdog waits. */
	heartbeat_rest();
	rc = clickhouse_ask(question->client, question->shard,
	    question->replica, statement, answer, err);
	heartbeat_beat();
	free(statement);
	return rc;
}

int
question_ask(const struct question *question, struct text *answer,
    struct err *err, const char *sql, ...)
{
	va_list values;
	int rc;

	va_start(values, sql);
	rc = ask(question, answer, err, sql, values);
	va_end(values);
	return rc;
}

static bool
read_number(struct text word, uint64_t *number)
{
	struct err err = { .text = "" };
	bool negative = word.bytes > 0 && word.at[0] == '-';

	if (negative) {
		word.at++;
		word.bytes--;
	}
	if (number_parse_u64(word, number, &err) != 0)
		return false;
	if (negative)
		*number = -*number;
	return true;
}

int
question_row(const struct question *question, struct text *answer,
    uint64_t *numbers, unsigned count, struct err *err)
{
	char place[QUESTION_PLACE_BYTES];
	struct text line;
	unsigned i = 0;

	if (!text_next_line(answer, &line))
		return 0;
	while (i < count && read_number(text_next_word(&line), &numbers[i]))
		i++;
	if (i == count && line.bytes == 0)
		return 1;
	return err_set(err,
	    "archive: %s answers a question with something else than %u "
	    "numbers a line",
	    question_place(question, place, sizeof(place)), count);
}

int
question_numbers(const struct question *question, uint64_t *numbers,
    unsigned count, struct err *err, const char *sql, ...)
{
	char place[QUESTION_PLACE_BYTES];
	struct text answer;
	va_list values;
	int rc;

	va_start(values, sql);
	rc = ask(question, &answer, err, sql, values);
	va_end(values);
	if (rc != 0)
		return -1;
	rc = question_row(question, &answer, numbers, count, err);
	if (rc == 0)
		return err_set(err, "archive: %s gives no answer",
		    question_place(question, place, sizeof(place)));
	return rc < 0 ? -1 : 0;
}
