/*
 * topics - what poolscope-stats prints.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/stats/topics/topics.h"

#include <string.h>

#include "exporters/metrics/metrics.h"
#include "exporters/stats/stats_format.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

const char *
topics_model(const struct topics_values *values)
{
	return question_model(&values->of);
}

/* A partition that is the default of this user is no wish to see it alone. */
struct text
topics_pattern(const struct topics_values *values)
{
	return text_of(
	    opt_origin_of(&values->pool.partition) == OPT_COMMAND_LINE
		? values->pool.partition
		: "");
}

/* A source that does not answer is an answer, too: it is down. */
static int
print_metrics(const struct topics_values *values, FILE *file, struct err *err)
{
	enum exposition_format format = values->of.prometheus
					    ? EXPOSITION_PROMETHEUS
					    : EXPOSITION_OPENMETRICS;
	struct metrics *metrics = NULL;
	struct source *source = NULL;
	int rc = source_open(&source, &values->source, err);

	if (rc == 0) {
		metrics = metrics_new(source, topics_pattern(values),
		    values->of.of_what == METRICS_OF_NODES);
		rc = metrics_read(metrics, clock_wall_ns(), err);
	}
	if (rc == 0) {
		metrics_write(metrics, format, file);
	} else {
		metrics_write_down(format, file);
		log_fail(err);
		*values->status = 1;
	}
	metrics_free(&metrics);
	return source_finish(&source, 0, err);
}

enum {
	ANY_FORMAT = 1 << STATS_TABLE | 1 << STATS_JSON | 1 << STATS_CSV |
		     1 << STATS_JSONL,
};

static const struct topic topics[] = {
	{ "metrics", NULL, print_metrics, ANY_FORMAT, true },
	{ .word = NULL },
};

const struct topic *
topics_find(const char *word)
{
	const struct topic *topic = topics;

	while (topic->word != NULL && strcmp(topic->word, word) != 0)
		topic++;
	return topic->word == NULL ? NULL : topic;
}
