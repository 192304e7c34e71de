/*
 * web_answers - the questions that can be asked by URL, and who answers them.
 *
 * A route gives what a command prints with --format json: it calls the same
 * function.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_WEB_ANSWERS_H
#define EXPORTERS_WEB_ANSWERS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "exporters/question/question.h"
#include "exporters/question/values.h"
#include "exporters/source/source.h"
#include "exporters/trace/timeline.h"
#include "exporters/web/access.h"
#include "proto/base/err.h"
#include "proto/base/text.h"

/* The target of a request: a path of segments, and parameters.
 *
 *     /v1/pools/acct%24pool/phases?by=node&top=5
 *
 * Segments and parameters are decoded (%41, and + for a blank in a parameter);
 * what they hold is UTF-8 without control characters.  The bytes come from
 * anybody. */
enum {
	WEB_URL_BYTES_MAX = 8 << 10,
	WEB_URL_SEGMENTS_MAX = 16,
	WEB_URL_PARAMETERS_MAX = 64,
};

struct web_parameter {
	const char *name, *value; /* NUL-terminated */
};

/* The texts lie in `decoded`: a struct web_url must not be copied. */
struct web_url {
	const char *segments[WEB_URL_SEGMENTS_MAX];
	uint32_t segment_count;
	struct web_parameter parameters[WEB_URL_PARAMETERS_MAX];
	uint32_t parameter_count;
	/* Decoded, with a NUL behind each text. */
	char decoded[WEB_URL_BYTES_MAX + WEB_URL_SEGMENTS_MAX +
		     2 * WEB_URL_PARAMETERS_MAX];
	size_t used;
};

/* -1: the sentence says what is wrong, and where. */
int web_url_parse(struct web_url *url, struct text target, struct err *err);

/* Write a text as a segment or a value: letters, digits and -._~ as they are.
 * Returns the end; `to` needs three bytes for each. */
char *web_url_encode(char *to, struct text t);

/*
 * The parameters of a request.
 *
 * They have the names and the meaning of the options of the command whose
 * answer the route gives, and come from the same tables.
 */

/* `allowed` has the names of the parameters that a route takes, with a blank
 * between them. */
bool web_query_allows(const char *allowed, const char *name);
/* The texts of the query are views of `url`.  -1: the sentence says which
 * parameter is wrong. */
int web_query_parse(struct question_values *query, const struct web_url *url,
    const char *allowed, struct err *err);

enum { WEB_ANSWER_BYTES_MAX = 8 << 20 };

struct web_question {
	const struct web_route *route;
	struct text partition; /* empty: the route is not of a pool */
	const char *limit; /* pattern of partitions; NULL: all; in `right` */
	struct web_right right;
	const struct source_options *options;
	struct question_values query;
	void *tick;                 /* of live.c */
	struct question_kept *kept; /* set by the worker */
	enum answer_format format;  /* the page takes ANSWER_FORMAT_JSON */
	bool openmetrics;           /* metrics: the format */
	uint64_t refused;           /* metrics: how often a token had to wait */
	struct timeline_shown shown; /* trace: set by the answer */
};

struct web_route {
	const char *word; /* "phases"; NULL ends the list */
	/* Their names, with a blank between them; NULL: the options of `asks`.
	 */
	const char *parameters;
	/* Does the answer change while nothing comes? */
	bool ages;
	/* -1: the sentence says why.  `*bad` is set if the question is wrong,
	 * whatever is stored. */
	int (*answer)(struct source *source, struct web_question *question,
	    FILE *file, bool *bad, struct err *err);
	/* Of questions[]: it says all but the word; NULL: none. */
	const struct question *asks;
};
/* Names of the parameters, with a blank between them. */
const char *web_route_parameters(const struct web_route *route);
bool web_route_ages(const struct web_route *route);
/* Answer it. */
int web_route_answer(struct source *source, struct web_question *question,
    FILE *file, bool *bad, struct err *err);

/* Below /v1, and below /v1/pools/PARTITION. */
extern const struct web_route web_routes[], web_pool_routes[];
/* These are not JSON: /metrics, and the trace of a pool, which is not kept. */
extern const struct web_route web_metrics_route;
/* Messages of the Model Context Protocol, which have no answer here. */
extern const struct web_route web_mcp_route;
bool web_route_is_trace(const struct web_route *route);

/* NULL: there is none; `err` has those that are near. */
const struct web_route *web_route_find(
    const struct web_route *routes, const char *word, struct err *err);

#endif
