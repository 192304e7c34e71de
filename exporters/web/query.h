/*
 * web_query - the parameters of a request.
 *
 * They have the names and the meaning of the options of the command whose
 * answer the route gives, and come from the same tables.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_WEB_QUERY_H
#define EXPORTERS_WEB_QUERY_H

#include "exporters/runs/runs.h"
#include "exporters/samples/time_window.h"
#include "exporters/select/order.h"
#include "exporters/starts/starts.h"
#include "exporters/web/http/url.h"

enum web_by { WEB_BY_DEFAULT, WEB_BY_NODE, WEB_BY_NAME, WEB_BY_TRACK };

enum web_metrics { WEB_METRICS_POOLS, WEB_METRICS_NODES };

struct web_query {
	struct time_window_options window;
	struct metric_options metrics;
	struct order order;
	struct runs_options runs;
	struct starts_options starts;
	const char *name, *run, *test, *entry, *nodes;
	int by;
	uint64_t limit, rows, max_bytes;
	int as; /* enum stats_series_as */
	bool has_model;
	int of_what; /* enum web_metrics */
	bool oldest, entries, changes;
	/* A time is relative to now: the same question has another answer
	 * later. */
	bool is_relative;
};

/* `allowed` has the names of the parameters that the route takes, with a blank
 * between them.  The texts of the query are views of `url`.  -1: the sentence
 * says which parameter is wrong. */
int web_query_parse(struct web_query *query, const struct web_url *url,
    const char *allowed, struct err *err);

#endif
