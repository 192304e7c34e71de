/*
 * restarts - has a server of the archive started again?
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/restarts.h"

#include "aggregator/archive/question.h"
#include "proto/os/clock.h"

/* Servers count whole seconds, and an answer takes time. */
enum { UNSURE_S = 2 };

static int
look(void *arg, const struct question *question, struct err *err)
{
	struct restarts *restarts = arg;
	int64_t *before =
	    &restarts->began_s[question->shard][question->replica];
	int64_t asked_s = clock_monotonic_ns() / NS_PER_SECOND, began_s;
	uint64_t uptime_s;

	if (question_numbers(question, &uptime_s, 1, err, "SELECT uptime()") !=
	    0)
		return -1;
	began_s = asked_s - (int64_t)uptime_s;
	restarts->found |= *before != 0 && began_s > *before + UNSURE_S;
	/* Never lower: an answer that took long makes it too early. */
	if (began_s > *before)
		*before = began_s;
	return 0;
}

int
restarts_look(
    struct restarts *restarts, struct clickhouse *client, struct err *err)
{
	return question_each(client, look, restarts, err);
}
