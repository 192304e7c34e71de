/*
 * web_answers - the questions that can be asked by URL, and who answers them.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/web/answers.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/metrics/metrics.h"
#include "exporters/nodes/pools.h"
#include "exporters/results/query.h"
#include "exporters/source/known.h"
#include "proto/base/memory.h"
#include "proto/base/nearest.h"
#include "proto/os/clock.h"

/* Cut `t` at the first byte of `at`; returns what was before it. */
static struct text
cut(struct text *t, char at, bool *found)
{
	const char *end = t->bytes > 0 ? memchr(t->at, at, t->bytes) : NULL;
	struct text front = *t;

	*found = end != NULL;
	if (end == NULL) {
		t->at += t->bytes;
		t->bytes = 0;
		return front;
	}
	front.bytes = (uint32_t)(end - t->at);
	t->at = end + 1;
	t->bytes -= front.bytes + 1;
	return front;
}

/* Decode into url->decoded; NULL: `err` says why. */
static const char *
decode(struct web_url *url, struct text t, bool plus, const char *what,
    struct err *err)
{
	char *to = url->decoded + url->used;
	uint32_t bytes = 0;
	char shown[80];

	for (uint32_t i = 0; i < t.bytes; i++) {
		unsigned char c = (unsigned char)t.at[i];

		if (c == '%') {
			if (t.bytes - i < 3 ||
			    !text_unhex(
				&c, 1, (struct text){ t.at + i + 1, 2 })) {
				err_set(err,
				    "%s '%s' has a %% without two hexadecimal "
				    "digits",
				    what, text_quote(shown, sizeof(shown), t));
				return NULL;
			}
			i += 2;
		} else if (c == '+' && plus) {
			c = ' ';
		}
		to[bytes++] = (char)c;
	}
	to[bytes] = '\0';
	url->used += bytes + 1;
	for (uint32_t i = 0; i < bytes; i++)
		if ((unsigned char)to[i] < 0x20 || to[i] == 0x7f) {
			err_set(err, "%s '%s' has a control character", what,
			    text_quote(shown, sizeof(shown), t));
			return NULL;
		}
	if (text_is_utf8((struct text){ to, bytes }))
		return to;
	err_set(err, "%s '%s' is not UTF-8", what,
	    text_quote(shown, sizeof(shown), t));
	return NULL;
}

static int
add_segment(struct web_url *url, struct text t, struct err *err)
{
	const char *segment;

	if (url->segment_count == WEB_URL_SEGMENTS_MAX)
		return err_set(err, "the path has more than %d parts",
		    WEB_URL_SEGMENTS_MAX);
	segment = decode(url, t, false, "the path part", err);
	if (segment == NULL)
		return -1;
	url->segments[url->segment_count++] = segment;
	return 0;
}

static int
add_parameter(struct web_url *url, struct text t, struct err *err)
{
	bool found;
	struct text name = cut(&t, '=', &found);
	struct web_parameter *parameter =
	    &url->parameters[url->parameter_count];

	if (url->parameter_count == WEB_URL_PARAMETERS_MAX)
		return err_set(
		    err, "more than %d parameters", WEB_URL_PARAMETERS_MAX);
	parameter->name = decode(url, name, true, "the parameter", err);
	if (parameter->name == NULL)
		return -1;
	parameter->value = decode(url, t, true, "the value", err);
	if (parameter->value == NULL)
		return -1;
	url->parameter_count++;
	return 0;
}

int
web_url_parse(struct web_url *url, struct text target, struct err *err)
{
	struct text query = target, path;
	bool found, more = true;

	url->segment_count = 0;
	url->parameter_count = 0;
	url->used = 0;
	if (target.bytes > WEB_URL_BYTES_MAX)
		return err_set(err, "the target has more than %d bytes",
		    WEB_URL_BYTES_MAX);
	if (target.bytes == 0 || target.at[0] != '/')
		return err_set(err, "the target does not begin with /");
	path = cut(&query, '?', &found);
	path.at++;
	path.bytes--;
	while (more)
		if (add_segment(url, cut(&path, '/', &more), err) != 0)
			return -1;
	for (more = found; more;) {
		struct text one = cut(&query, '&', &more);

		if (one.bytes > 0 && add_parameter(url, one, err) != 0)
			return -1;
	}
	return 0;
}

char *
web_url_encode(char *to, struct text t)
{
	for (uint32_t i = 0; i < t.bytes; i++) {
		unsigned char c = (unsigned char)t.at[i];

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c >= '0' && c <= '9') || (c != 0 && strchr("-._~", c))) {
			*to++ = (char)c;
		} else {
			*to++ = '%';
			to = text_hex(to, &c, 1);
		}
	}
	return to;
}

enum { NAME_ROOM = 64 };

/* Those that no command has under this name. */
static const struct opt own_options[] = {
	{ .name = "limit",
	    .type = OPT_COUNT,
	    OPT_TO(struct question_values, limit) },
	{ .name = "of",
	    .type = OPT_TEXT,
	    OPT_TO(struct question_values, what) },
	{ .name = "nodes",
	    .type = OPT_TEXT,
	    OPT_TO(struct question_values, nodes) },
	{ .name = "max-size",
	    .type = OPT_BYTES,
	    OPT_TO(struct question_values, max_bytes) },
	{ .name = "entries",
	    .type = OPT_FLAG,
	    OPT_TO(struct question_values, entries) },
	{ .name = "changes",
	    .type = OPT_FLAG,
	    OPT_TO(struct question_values, changes) },
	{ .name = "oldest",
	    .type = OPT_FLAG,
	    OPT_TO(struct question_values, oldest) },
	{ .name = NULL },
};

bool
web_query_allows(const char *allowed, const char *name)
{
	size_t bytes = strlen(name);

	for (const char *at = allowed; bytes > 0 && *at != '\0';) {
		size_t word = strcspn(at, " ");

		if (word == bytes && memcmp(at, name, bytes) == 0)
			return true;
		at += word + (at[word] == ' ');
	}
	return false;
}

static int
refuse(const char *allowed, const char *name, struct err *err)
{
	char question[3 * NEAREST_WORD_BYTES + 32], word[NAME_ROOM], shown[80];
	struct nearest nearest;

	nearest_begin(&nearest, name);
	for (const char *at = allowed; *at != '\0';) {
		size_t bytes = strcspn(at, " ");

		snprintf(word, sizeof(word), "%.*s", (int)bytes, at);
		nearest_offer(&nearest, word);
		at += bytes + (at[bytes] == ' ');
	}
	nearest_question(&nearest, "", question, sizeof(question));
	text_quote(shown, sizeof(shown), text_of(name));
	if (nearest.count > 0)
		return err_set(err, "the parameter '%s' does not exist here%s",
		    shown, question);
	return err_set(err, "the parameter '%s' does not exist here; %s%s",
	    shown, *allowed == '\0' ? "there are none" : "there are ", allowed);
}

static const struct opt *
find_option(struct question_values *query, const char *name, void **values)
{
	for (const struct opt *opt = own_options; opt->name != NULL; opt++)
		if (strcmp(opt->name, name) == 0) {
			*values = query;
			return opt;
		}
	return question_find_option(query, name, values);
}

static int
put(struct question_values *query, const struct web_parameter *parameter,
    struct err *err)
{
	void *values;
	const struct opt *opt = find_option(query, parameter->name, &values);

	if (opt == NULL)
		return refuse("", parameter->name, err);
	return question_put(query, opt, values, parameter->value, err);
}

static bool
is_list(const char *name)
{
	return strcmp(name, "node") == 0 || strcmp(name, "metric") == 0 ||
	       strcmp(name, "run") == 0 || strcmp(name, "base") == 0 ||
	       strcmp(name, "with") == 0;
}

int
web_query_parse(struct question_values *query, const struct web_url *url,
    const char *allowed, struct err *err)
{
	*query = question_values_default();
	for (uint32_t i = 0; i < url->parameter_count; i++) {
		const struct web_parameter *parameter = &url->parameters[i];

		if (!web_query_allows(allowed, parameter->name))
			return refuse(allowed, parameter->name, err);
		for (uint32_t k = 0; k < i; k++)
			if (!is_list(parameter->name) &&
			    strcmp(url->parameters[k].name, parameter->name) ==
				0)
				return err_set(
				    err, "%s is given twice", parameter->name);
		if (put(query, parameter, err) != 0)
			return -1;
	}
	return question_complete(query, err);
}

/* Before compression; a quarter of it is sent. */
enum { TRACE_BYTES_MAX = 32 << 20 };

/* Without parameters the tests; of a test its starts, its entries, or the
 * timings or changes of one entry. */
static int
answer_results(struct source *source, struct web_question *question, FILE *file,
    bool *bad, struct err *err)
{
	struct question_values *asked = &question->query;
	bool test = asked->test != NULL, entry = asked->entry != NULL;
	const char *word = asked->changes   ? "changes"
			   : entry          ? "timings"
			   : asked->entries ? "entries"
			   : test           ? "starts"
					    : "tests";
	const struct result_question *of = result_questions;
	struct result_query query = { .source = source,
		.partition = question->partition,
		.test = text_of(asked->test),
		.entry = text_of(asked->entry),
		.window =
		    result_window(asked->window.from_ns, asked->window.to_ns),
		.limit = asked->limit,
		.oldest = asked->oldest };

	*bad = true;
	if (!test && (entry || asked->entries))
		return err_set(err, "test: name the test of the entry");
	if ((test && asked->test[0] == '\0') ||
	    (entry && asked->entry[0] == '\0'))
		return err_set(err, "test, entry: a name is empty");
	if (asked->changes && !entry)
		return err_set(err, "changes: name the test and the entry");
	if (asked->changes && asked->oldest)
		return err_set(err, "changes: are printed in one order");
	while (strcmp(of->word, word) != 0)
		of++;
	if (answer_options_check(&asked->answer, of->tables, err) != 0)
		return -1;
	*bad = false;
	asked->answer.format = (int)question->format;
	return result_answer(of, &query, &asked->answer, file, err);
}

/* All nodes of a large pool are more than a viewer can show. */
static int
answer_trace(struct source *source, struct web_question *question, FILE *file,
    bool *bad, struct err *err)
{
	struct question_values *query = &question->query;
	struct starts_chosen start;
	struct timeline_options timeline = { .metrics = query->metrics.metrics,
		.nodes = query->nodes != NULL ? query->nodes : "worst:8",
		.max_bytes = query->max_bytes != UINT64_MAX ? query->max_bytes
							    : TRACE_BYTES_MAX };
	const struct trace_request request = { .source = source,
		.window = &query->window,
		.gap_ns = query->starts.gap_ns,
		.timeline = &timeline,
		.partition = question->partition,
		.format = TRACE_PROTO };

	*bad = true;
	if (timeline.max_bytes == 0 || timeline.max_bytes > TRACE_BYTES_MAX)
		return err_set(err, "max-size: from 1 to %d bytes (32MiB)",
		    TRACE_BYTES_MAX);
	if (timeline_options_complete(&timeline, err) != 0)
		return -1;
	*bad = false;
	if (starts_choose(&start, source, question->partition, &query->starts,
		NULL, false, &query->window.from_ns, &query->window.to_ns,
		err) != 0)
		return -1;
	return timeline_write_to(&request, file, &question->shown, err);
}

/* A scraper asks the same again and again: only what has come is read. */
static struct metrics *
keep_metrics(struct source *source, const struct web_question *question)
{
	bool by_node = question->query.of_what == 1;
	struct question_kept *kept = question->kept;
	struct text pattern = text_of(question->query.name);

	if (kept->metrics != NULL && kept->by_node == by_node &&
	    text_equal(text_of(kept->pattern), pattern))
		return kept->metrics;
	metrics_free(&kept->metrics);
	free(kept->pattern);
	kept->by_node = by_node;
	kept->pattern = memory_format("%.*s", (int)pattern.bytes, pattern.at);
	kept->metrics = metrics_new(source, text_of(kept->pattern), by_node);
	return kept->metrics;
}

/* A source that does not answer is down, which is an answer, too. */
static int
answer_metrics(struct source *source, struct web_question *question, FILE *file,
    bool *bad, struct err *err)
{
	static const struct exposition_family refused = {
		"poolscope_web_rate_limited_requests", EXPOSITION_COUNTER, "",
		"Requests to poolscope web that were answered with 429, "
		"because their token asked too often."
	};
	static const struct exposition_label no_labels[EXPOSITION_LABELS];
	struct exposition exposition = { .file = file,
		.format = question->openmetrics ? EXPOSITION_OPENMETRICS
						: EXPOSITION_PROMETHEUS };
	struct metrics *metrics = keep_metrics(source, question);

	(void)bad;
	if (metrics_read(metrics, clock_wall_ns(), err) == 0)
		metrics_give(metrics, &exposition);
	else
		metrics_give_down(&exposition);
	exposition_begin(&exposition, &refused);
	exposition_sample(
	    &exposition, "_total", no_labels, (double)question->refused);
	exposition_end(&exposition);
	return 0;
}

const struct web_route web_metrics_route = { "metrics", "metrics name", true,
	answer_metrics, NULL };

const struct web_route web_mcp_route = { "mcp", "", true, NULL, NULL };

const struct web_route web_routes[] = {
	/* JSON has all counters: there is no verbose. */
	{ "status", "sort top columns", .asks = &question_status },
	{ "pools", .asks = &question_pools },
	{ .word = NULL },
};

const struct web_route web_pool_routes[] = {
	{ "starts", .asks = &question_starts },
	{ "phases", .asks = &question_phases },
	{ "nodes", .asks = &question_nodes },
	{ "cascade", .asks = &question_cascade },
	{ "runs", .asks = &question_runs },
	{ "deltas", .asks = &question_deltas },
	/* --drain is for programs. */
	{ "stragglers",
	    "spreads ratio least last work wait clock-error model node start "
	    "gap from to sort top columns",
	    .asks = &question_stragglers },
	{ "iterations", .asks = &question_iterations },
	{ "skew", .asks = &question_skew },
	{ "slow", .asks = &question_slow },
	{ "groups", .asks = &question_groups },
	{ "samples", .asks = &question_samples },
	{ "timeline", .asks = &question_timeline },
	{ "breakdown", .asks = &question_breakdown },
	{ "series", .asks = &question_series },
	{ "usage", .asks = &question_usage },
	{ "whatif", .asks = &question_whatif },
	{ "why", "of model start gap from to sort top columns",
	    .asks = &question_why },
	{ "results",
	    "test entry entries changes from to limit oldest sort top columns",
	    false, answer_results, NULL },
	{ "clocks", .asks = &question_clocks },
	{ "critical", .asks = &question_critical },
	{ "compare",
	    "by base with worse mixed test entry name model group queue "
	    "configuration requestor gap from to sort top columns",
	    .asks = &question_compare },
	{ "spans", .asks = &question_spans },
	{ "trace", "nodes max-size metric node job user start gap from to step",
	    false, answer_trace, NULL },
	{ .word = NULL },
};

const char *
web_route_parameters(const struct web_route *route)
{
	return route->parameters != NULL ? route->parameters
					 : route->asks->options;
}

bool
web_route_ages(const struct web_route *route)
{
	return route->asks != NULL ? route->asks->ages : route->ages;
}

int
web_route_answer(struct source *source, struct web_question *question,
    FILE *file, bool *bad, struct err *err)
{
	const struct question *asks = question->route->asks;
	int status = 0;
	struct question_asked asked = { .source = source,
		.options = question->options,
		.limit = question->limit,
		.partition = question->partition,
		.pattern = text_of(question->query.name),
		.values = &question->query,
		.kept = question->kept,
		.status = &status };

	if (asks == NULL)
		return question->route->answer(
		    source, question, file, bad, err);
	question->query.answer.format = (int)question->format;
	*bad = question_check(asks, &question->query, err) != 0;
	if (*bad || question_answer(asks, &asked, file, err) != 0)
		return -1;
	/* Whoever asks us hears by the status that the source is silent. */
	return asks->takes_silence && source_has_failed(source) ? -1 : 0;
}

bool
web_route_is_trace(const struct web_route *route)
{
	return route->answer == answer_trace;
}

const struct web_route *
web_route_find(
    const struct web_route *routes, const char *word, struct err *err)
{
	char question[3 * NEAREST_WORD_BYTES + 32], shown[80];
	char all[sizeof(err->text)] = "";
	size_t used = 0;
	struct nearest nearest;

	nearest_begin(&nearest, word);
	for (; routes->word != NULL; routes++) {
		if (strcmp(routes->word, word) == 0)
			return routes;
		nearest_offer(&nearest, routes->word);
		if (used < sizeof(all))
			used += (size_t)snprintf(all + used, sizeof(all) - used,
			    "%s%s", used == 0 ? "" : " ", routes->word);
	}
	nearest_question(&nearest, "", question, sizeof(question));
	text_quote(shown, sizeof(shown), text_of(word));
	if (nearest.count > 0)
		err_set(err, "there is no '%s' here%s", shown, question);
	else
		err_set(err, "there is no '%s' here; there are %s", shown, all);
	return NULL;
}
