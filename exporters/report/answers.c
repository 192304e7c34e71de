/*
 * report_answers - all that the page shows of a pool, within a bound.
 * SPDX-License-Identifier: MIT
 */
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/report/report.h"
#include "exporters/web/http/url.h"
#include "proto/base/memory.h"
#include "proto/stream/compress_block.h"

enum {
	PACKED_MAX = 270 << 10, /* of all; in the file a third more */
	NODES_MAX = 500,        /* of larger pools only the first rows */
	ROWS_MAX = 200,
	RUNS_MAX = 200,
	METRICS_MAX = 64,
	TESTS_MAX = 16,
	ENTRIES_MAX = 16,
};

/* ---- what there is ---- */

static void __attribute__((format(printf, 2, 3)))
leave_out(struct report_answers *answers, const char *format, ...)
{
	va_list list;
	char *text;

	va_start(list, format);
	if (vasprintf(&text, format, list) < 0)
		memory_exhausted(0);
	va_end(list);
	answers->left_out =
	    memory_grow(answers->left_out, &answers->left_out_room,
		answers->left_out_count, sizeof(*answers->left_out));
	answers->left_out[answers->left_out_count++] = text;
}

static size_t
packed_bytes(const char *text, size_t bytes)
{
	size_t packed;

	free(compress_gzip(text, bytes, COMPRESS_FAST, &packed));
	return packed;
}

/* The last answer that was put; NULL: none of this key. */
static const struct report_answer *
find(const struct report_answers *answers, const char *key)
{
	for (uint32_t i = 0; i < answers->count; i++)
		if (strcmp(answers->at[i].key, key) == 0)
			return &answers->at[i];
	return NULL;
}

/* The values of these members are paths or addresses of who made the report;
 * of answers about a pool "from" is a time. */
static void
hide_places(char *text, size_t *bytes, bool is_of_pool)
{
	static const char *const members[] = { "\"place\": \"",
		"\"from\": \"" };

	for (size_t i = 0; i < (is_of_pool ? 1 : 2); i++) {
		size_t name = strlen(members[i]), at = 0;
		char *found;

		while ((found = memmem(text + at, *bytes - at, members[i],
			    name)) != NULL) {
			size_t begin = (size_t)(found - text) + name;
			size_t end = begin;

			while (end < *bytes && text[end] != '"')
				end += text[end] == '\\' ? 2 : 1;
			if (end > *bytes)
				return;
			memmove(text + begin, text + end, *bytes - end);
			*bytes -= end - begin;
			at = begin;
		}
	}
}

struct asking {
	struct report_answers *answers;
	const struct report_request *request;
	struct err *err;
};

/* Ask, and keep the answer under the key that the page looks for.  `what` names
 * it if it is too large.  1: there is none. */
static int
ask(struct asking *asking, const char *url, char *key, const char *what)
{
	struct report_answers *answers = asking->answers;
	char *text = NULL;
	size_t bytes, packed;
	FILE *file = memory_stream(&text, &bytes);
	struct err err = { 0 };
	int rc = report_ask(asking->request, url, STATS_JSON, file, &err);

	memory_stream_end(&file);
	if (rc == 0 && asking->request->is_anonymous)
		hide_places(text, &bytes,
		    strncmp(key, "pools/", strlen("pools/")) == 0);
	packed = rc == 0 ? packed_bytes(text, bytes) : 0;
	if (rc == 0 && answers->packed + packed > PACKED_MAX) {
		leave_out(answers, "%s", what);
		rc = 1;
	}
	if (rc != 0) {
		if (rc < 0)
			*asking->err = err;
		free(text);
		free(key);
		return rc;
	}
	answers->packed += packed;
	answers->at = memory_grow(
	    answers->at, &answers->room, answers->count, sizeof(*answers->at));
	answers->at[answers->count++] =
	    (struct report_answer){ key, text, bytes };
	return 0;
}

/* A question about the pool, and how the page asks it. */
static int
ask_pool(struct asking *asking, const char *route, const char *asked_as,
    const char *what)
{
	const struct report_request *request = asking->request;
	char *url = report_url(request, "%s", route);
	char *key = memory_format("pools/%.*s/%s",
	    (int)request->partition.bytes, request->partition.at, asked_as);
	int rc = ask(asking, url, key, what);

	free(url);
	return rc < 0 ? -1 : 0;
}

/* ---- what the answers say ---- */

static json_t *
parse(const struct asking *asking, const char *route)
{
	char *key = route[0] == '/' ? memory_string(route + 1)
				    : memory_format("pools/%.*s/%s",
					  (int)asking->request->partition.bytes,
					  asking->request->partition.at, route);
	const struct report_answer *answer = find(asking->answers, key);
	json_t *json = answer == NULL ? NULL
				      : json_loadb(answer->text, answer->bytes,
					    JSON_DECODE_ANY, NULL);

	free(key);
	return json;
}

static json_t *
parse_rows(const struct asking *asking, const char *route)
{
	json_t *answer = parse(asking, route);
	json_t *rows = json_incref(json_object_get(answer, "rows"));

	json_decref(answer);
	return rows;
}

static uint64_t
count_nodes(const struct asking *asking)
{
	json_t *pools = parse(asking, "/pools");
	uint64_t nodes = (uint64_t)json_integer_value(json_object_get(
	    json_array_get(json_object_get(pools, "rows"), 0), "nodes"));

	json_decref(pools);
	return nodes;
}

static char *
encoded(const char *word)
{
	struct text text = text_of(word);
	char *to = memory_alloc(3 * (size_t)text.bytes + 1);

	*web_url_encode(to, text) = '\0';
	return to;
}

/* ---- the questions ---- */

static int
ask_series(struct asking *asking, const char *metric)
{
	char *word = encoded(metric);
	char *route = memory_format(
	    "series?metric=%s&shape=columns&columns=mean,min,p10,p50,p90,max",
	    word);
	char *key = memory_format("series?metric=%s", metric);
	char *what = memory_format("%s over time", metric);
	int rc = ask_pool(asking, route, key, what);

	free(word);
	free(route);
	free(key);
	free(what);
	return rc;
}

static bool
is_before(json_t *list, size_t i, const char *metric)
{
	while (i-- > 0) {
		const char *other = json_string_value(
		    json_object_get(json_array_get(list, i), "metric"));

		if (other != NULL && strcmp(other, metric) == 0)
			return true;
	}
	return false;
}

/* Each metric of the samples, over time. */
static int
ask_metrics(struct asking *asking)
{
	json_t *samples = parse(asking, "samples");
	json_t *list = json_object_get(samples, "rows");
	size_t asked = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < json_array_size(list); i++) {
		const char *metric = json_string_value(
		    json_object_get(json_array_get(list, i), "metric"));

		if (metric == NULL || is_before(list, i, metric))
			continue;
		if (asked++ == METRICS_MAX) {
			leave_out(asking->answers,
			    "the metrics after the first %d, over time",
			    METRICS_MAX);
			break;
		}
		rc = ask_series(asking, metric);
	}
	json_decref(samples);
	return rc;
}

static int
ask_entry(struct asking *asking, const char *test, const char *entry)
{
	char *words[2] = { encoded(test), encoded(entry) };
	char *what = memory_format("results of %s, %s", test, entry);
	int rc = 0;

	for (int changes = 0; rc == 0 && changes < 2; changes++) {
		char *route = memory_format("results?%sentry=%s&test=%s",
		    changes ? "changes=true&" : "", words[1], words[0]);
		char *key = memory_format("results?%sentry=%s&test=%s",
		    changes ? "changes=true&" : "", entry, test);

		rc = ask_pool(asking, route, key, what);
		free(route);
		free(key);
	}
	free(words[0]);
	free(words[1]);
	free(what);
	return rc;
}

static int
ask_test(struct asking *asking, const char *test)
{
	char *word = encoded(test),
	     *what = memory_format("entries of %s", test);
	char *route = memory_format("results?entries=true&test=%s", word);
	char *key = memory_format("results?entries=true&test=%s", test);
	int rc = ask_pool(asking, route, key, what);
	json_t *list = parse_rows(asking, key);

	for (size_t i = 0; rc == 0 && i < json_array_size(list); i++) {
		const char *entry = json_string_value(
		    json_object_get(json_array_get(list, i), "entry"));

		if (i == ENTRIES_MAX) {
			leave_out(asking->answers,
			    "entries of %s after the first %d", test,
			    ENTRIES_MAX);
			break;
		}
		if (entry != NULL)
			rc = ask_entry(asking, test, entry);
	}
	json_decref(list);
	free(word);
	free(what);
	free(route);
	free(key);
	return rc;
}

static int
ask_results(struct asking *asking)
{
	int rc = ask_pool(asking, "results", "results", "results");
	json_t *list = parse_rows(asking, "results");

	for (size_t i = 0; rc == 0 && i < json_array_size(list); i++) {
		const char *test = json_string_value(
		    json_object_get(json_array_get(list, i), "test"));

		if (i == TESTS_MAX) {
			leave_out(asking->answers,
			    "results of tests after the first %d", TESTS_MAX);
			break;
		}
		if (test != NULL)
			rc = ask_test(asking, test);
	}
	json_decref(list);
	return rc;
}

/* Of large pools the rows that matter most; of phases and samples those of
 * each phase or metric. */
static int
ask_nodes(struct asking *asking, uint64_t nodes)
{
	static const struct {
		const char *route, *sort, *key, *what;
	} tables[] = {
		{ "phases?by=node", "&sort=max", "phases?by=node",
		    "phases by node" },
		{ "nodes?", "", "nodes", "the state of nodes" },
		{ "samples?by=node", "&sort=max", "samples?by=node",
		    "samples by node" },
		{ "usage?", "", "usage", "usage by node" },
	};
	bool is_large = nodes > NODES_MAX;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(tables) / sizeof(*tables);
	     i++) {
		uint32_t before = asking->answers->count;
		char *top =
		    memory_format("&top=%d%s", ROWS_MAX, tables[i].sort);
		char *route =
		    memory_format("%s%s", tables[i].route, is_large ? top : "");

		rc = ask_pool(asking, route, tables[i].key, tables[i].what);
		if (is_large && asking->answers->count > before)
			leave_out(asking->answers, "%s but for %d of them%s",
			    tables[i].what, ROWS_MAX,
			    *tables[i].sort != '\0' ? ", the greatest of each"
						    : "");
		free(route);
		free(top);
	}
	return rc;
}

/* The timeline by each model but the first, which was asked for. */
static int
ask_models(struct asking *asking)
{
	json_t *timeline = parse(asking, "timeline");
	json_t *list = json_object_get(timeline, "models");
	const char *first =
	    json_string_value(json_object_get(timeline, "model"));
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < json_array_size(list); i++) {
		const char *model = json_string_value(json_array_get(list, i));
		char *word, *route, *key, *what;

		if (model == NULL || first == NULL || strcmp(model, first) == 0)
			continue;
		word = encoded(model);
		route = memory_format("timeline?rows=800&model=%s", word);
		key = memory_format("timeline?model=%s", model);
		what = memory_format("the timeline by %s", model);
		rc = ask_pool(asking, route, key, what);
		free(word);
		free(route);
		free(key);
		free(what);
	}
	json_decref(timeline);
	return rc;
}

static int
ask_all(struct asking *asking)
{
	char *runs = memory_format("runs?newest=%d", RUNS_MAX);
	uint64_t nodes = count_nodes(asking);
	int rc = ask_pool(asking, "phases", "phases", "phases");

	if (rc == 0)
		rc = ask_pool(
		    asking, "timeline?rows=800", "timeline", "the timeline");
	if (rc == 0)
		rc = ask_pool(asking, runs, "runs", "runs");
	if (rc == 0)
		rc = ask_pool(asking, "groups", "groups", "groups of runs");
	if (rc == 0)
		rc = ask_pool(asking, "samples", "samples", "samples");
	if (rc == 0)
		rc = ask_nodes(asking, nodes);
	if (rc == 0)
		rc = ask_metrics(asking);
	if (rc == 0)
		rc = ask_models(asking);
	if (rc == 0)
		rc = ask_results(asking);
	free(runs);
	return rc;
}

int
report_answers_read(struct report_answers *answers,
    const struct report_request *request, struct err *err)
{
	struct asking asking = { answers, request, err };
	char *encoded_name = memory_alloc(3 * request->partition.bytes + 1);
	char *url;
	int rc;

	*answers = (struct report_answers){ .count = 0 };
	*web_url_encode(encoded_name, request->partition) = '\0';
	url = memory_format("/v1/pools?name=%s", encoded_name);
	rc = ask(&asking, url, memory_string("pools"), "the pool");
	if (rc > 0)
		rc = err_set(err, "there is no partition %.*s",
		    (int)request->partition.bytes, request->partition.at);
	if (rc == 0 &&
	    ask(&asking, "/v1/status", memory_string("status"), "status") < 0)
		rc = -1;
	if (rc == 0)
		rc = ask_all(&asking);
	free(encoded_name);
	free(url);
	return rc;
}

void
report_answers_clear(struct report_answers *answers)
{
	for (uint32_t i = 0; i < answers->count; i++) {
		free(answers->at[i].key);
		free(answers->at[i].text);
	}
	for (uint32_t i = 0; i < answers->left_out_count; i++)
		free(answers->left_out[i]);
	free(answers->at);
	free(answers->left_out);
	*answers = (struct report_answers){ .count = 0 };
}
