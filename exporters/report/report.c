/*
 * report - what poolscope-report writes, part by part.
 *
 * A report holds answers of exporters/web/answers.h: those that the page asks
 * a server for, and so what the commands print.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/report/report.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/web/answers.h"
#include "proto/base/memory.h"
#include "proto/base/version.h"
#include "proto/os/clock.h"
#include "proto/stream/compress_block.h"

/* Ask what a route of poolscope-web answers. */

/* /v1/ROUTE or /v1/pools/PARTITION/ROUTE. */
static int
find(struct web_question *question, const struct web_url *url,
    const struct report_request *request, struct err *err)
{
	bool of_pool = url->segment_count == 4;

	question->route = web_route_find(of_pool ? web_pool_routes : web_routes,
	    url->segments[url->segment_count - 1], err);
	if (of_pool)
		question->partition = request->partition;
	return question->route == NULL ? -1 : 0;
}

static void
set_time(struct web_question *question, const struct report_request *request)
{
	const char *allowed = web_route_parameters(question->route);
	struct question_values *query = &question->query;
	bool is_given = request->starts.start_ns != TIME_MIN_NS;

	if (web_query_allows(allowed, "start")) {
		query->starts = request->starts;
		if (is_given)
			return;
	}
	/* Those before a start say how long it usually takes. */
	if (web_query_allows(allowed, "from") &&
	    question->route->asks != &question_starts &&
	    request->from_ns != TIME_MIN_NS)
		query->window.from_ns = request->from_ns;
	if (web_query_allows(allowed, "to") && request->to_ns != TIME_MAX_NS)
		query->window.to_ns = request->to_ns;
}

static int
answer(struct web_question *question, const struct web_url *url,
    const struct report_request *request, const struct answer_options *how,
    FILE *file, struct err *err)
{
	struct source *source = request->source;
	bool bad = false;
	int rc;

	if (find(question, url, request, err) != 0 ||
	    web_query_parse(&question->query, url,
		web_route_parameters(question->route), err) != 0)
		return -1;
	set_time(question, request);
	question->query.answer.taker = how->taker;
	question->query.answer.table = how->table;
	if (how->top > 0)
		question->query.answer.top = how->top;
	source_renew(source);
	rc = web_route_answer(source, question, file, &bad, err);
	if (source_check_damage(source, rc, err) != 0 && rc == 0)
		return -1;
	if (rc == 0)
		return question->partition.bytes > 0 && source_is_empty(source);
	return bad || source_has_failed(source) ? -1 : 1;
}

/* The URL of a question about the pool; the caller frees it. */
static __attribute__((format(printf, 2, 3))) char *
report_url(const struct report_request *request, const char *route, ...)
{
	char *encoded = memory_alloc(3 * request->partition.bytes + 1), *url;
	char *more;
	va_list list;

	*web_url_encode(encoded, request->partition) = '\0';
	va_start(list, route);
	if (vasprintf(&more, route, list) < 0)
		memory_exhausted(0);
	va_end(list);
	url = memory_format("/v1/pools/%s/%s", encoded, more);
	free(more);
	free(encoded);
	return url;
}

int
report_ask(const struct report_request *request, const char *url,
    const struct answer_options *how, FILE *file, struct err *err)
{
	struct web_url *parsed = memory_zero(1, sizeof(*parsed));
	char *limit = memory_text(request->partition);
	struct web_question *question = memory_zero(1, sizeof(*question));
	char *whole =
	    *url == '/' ? memory_string(url) : report_url(request, "%s", url);
	int rc;

	question->options = request->options;
	question->format = (enum answer_format)how->format;
	question->limit = limit;
	source_limit(request->source, limit);
	rc = web_url_parse(parsed, text_of(whole), err);
	if (rc == 0)
		rc = answer(question, parsed, request, how, file, err);
	source_limit(request->source, NULL);
	free(question);
	free(whole);
	free(limit);
	free(parsed);
	return rc;
}

int
report_find(const struct report_request *request, const char *url,
    struct report_findings *findings, struct err *err)
{
	const struct answer_taker taker = { report_findings_take, findings };
	const struct answer_options how = { .format = ANSWER_FORMAT_JSONL,
		.taker = &taker };
	char *text;
	size_t bytes;
	FILE *file = memory_stream(&text, &bytes);
	int rc = report_ask(request, url, &how, file, err);

	memory_stream_end(&file);
	free(text);
	return rc;
}

char *
report_url_of_pool(const struct report_request *request)
{
	char *encoded = memory_alloc(3 * request->partition.bytes + 1), *url;

	*web_url_encode(encoded, request->partition) = '\0';
	url = memory_format("/v1/pools?name=%s", encoded);
	free(encoded);
	return url;
}

const char *
report_made(char to[static REPORT_MADE_BYTES])
{
	char now[CLOCK_TEXT_BYTES];

	snprintf(to, REPORT_MADE_BYTES, "%s by poolscope %s",
	    clock_text(now, clock_wall_ns(), 0), VERSION);
	return to;
}

/* All that the page shows of a pool, within a bound. */

enum {
	PACKED_MAX = 190 << 10, /* of all; in the file a third more */
	NODES_MAX = 500,        /* of larger pools only the first rows */
	ROWS_MAX = 200,
	RUNS_MAX = 200,
	TESTS_MAX = 16,
	ENTRIES_MAX = 16,
};

#define BREAKDOWN "breakdown?rows=800&shape=columns"
#define TIMELINE                                                               \
	"timeline?rows=320&pixels=1400&order=name&shape=columns&columns=row,"  \
	"pixel,pixels,phase,share,offset,duration,key,open"

#define SLOW "slow?columns=node,phase,key,time,usual,above,open&top=500"
/* The picture of the nodes. */
#define STATES "nodes?columns=node,state"

/* ---- what there is ---- */

/* Each once: the reader wants to know of what more is known. */
static void
leave_out(struct report_answers *answers, const char *what)
{
	char *before = answers->left_out;

	if (before != NULL && strstr(before, what) != NULL)
		return;
	answers->left_out = memory_format("%s%s%s",
	    before != NULL ? before : "", before != NULL ? "; " : "", what);
	free(before);
}

static size_t
packed_bytes(const char *text, size_t bytes)
{
	size_t packed;

	free(compress_gzip(text, bytes, COMPRESS_FAST, &packed));
	return packed;
}

/* The values of this member are paths or addresses of who made the report. */
static void
hide_places(char *text, size_t *bytes)
{
	static const char member[] = "\"place\": \"";
	size_t name = strlen(member), at = 0;
	char *found;

	while ((found = memmem(text + at, *bytes - at, member, name)) != NULL) {
		size_t begin = (size_t)(found - text) + name, end = begin;

		while (end < *bytes && text[end] != '"')
			end += text[end] == '\\' ? 2 : 1;
		if (end > *bytes)
			return;
		memmove(text + begin, text + end, *bytes - end);
		*bytes -= end - begin;
		at = begin;
	}
}

struct asking {
	struct report_answers *answers;
	const struct report_request *request;
	struct answer_taker findings;
	struct err *err;
};

/* Ask, and keep the answer under the key that the page looks for.  `what` names
 * it if it is too large.  1: there is none. */
static int
ask(struct asking *asking, const char *url, char *key, const char *what,
    const struct answer_taker *taker)
{
	struct report_answers *answers = asking->answers;
	const struct answer_options how = { .format = ANSWER_FORMAT_JSON,
		.taker = taker };
	char *text = NULL;
	size_t bytes, packed;
	FILE *file = memory_stream(&text, &bytes);
	struct err err = { 0 };
	int rc = report_ask(asking->request, url, &how, file, &err);

	memory_stream_end(&file);
	if (rc == 0 && asking->request->is_anonymous)
		hide_places(text, &bytes);
	packed = rc == 0 ? packed_bytes(text, bytes) : 0;
	if (rc == 0 && answers->packed + packed > PACKED_MAX) {
		leave_out(answers, what);
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
	*MEMORY_ADD(answers->at, answers->room, answers->count) =
	    (struct report_answer){ key, text, bytes };
	return 0;
}

/* A question about the pool, and how the page asks it. */
static int
ask_pool(struct asking *asking, const char *route, const char *asked_as,
    const char *what, const struct answer_taker *taker)
{
	const struct report_request *request = asking->request;
	char *key = memory_format("pools/%.*s/%s",
	    (int)request->partition.bytes, request->partition.at, asked_as);

	return ask(asking, route, key, what, taker) < 0 ? -1 : 0;
}

/* ---- names that an answer has, to ask for each ---- */

struct names {
	const char *table, *column;
	char *at[TESTS_MAX + 1];
	uint32_t count;
	bool has_more;
	char *chosen; /* the member of the head */
};

static void
take_name(void *arg, const struct answer_taken *row)
{
	struct names *names = arg;
	bool is_head = strcmp(row->table, "head") == 0;
	const struct answer_cell *cell = answer_taken_cell(row, names->column);

	if (cell == NULL || !answer_is_known(cell) ||
	    (!is_head && strcmp(row->table, names->table) != 0))
		return;
	if (is_head) {
		free(names->chosen);
		names->chosen = memory_text(cell->is.text);
	} else if (names->count < TESTS_MAX) {
		names->at[names->count++] = memory_text(cell->is.text);
	} else {
		names->has_more = true;
	}
}

static void
names_clear(struct names *names)
{
	for (uint32_t i = 0; i < names->count; i++)
		free(names->at[i]);
	free(names->chosen);
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

/* Of a metric of a group, over time. */
static int
ask_series(struct asking *asking, const struct report_metric *metric)
{
	char *words[2] = { encoded(metric->metric.at),
		encoded(metric->group.at) };
	char *route = memory_format("series?metric=%s&metric-group=%s&"
				    "shape=columns&columns=mean,min,p10,p50,"
				    "p90,max,nodes,few",
	    words[0], words[1]);
	char *key = memory_format("series?metric=%s&metric-group=%s",
	    metric->metric.at, metric->group.at);
	int rc = ask_pool(asking, route, key, "some metrics over time", NULL);

	free(words[0]);
	free(words[1]);
	free(route);
	free(key);
	return rc;
}

/* The metrics that matter: over time, and by node. */
static int
ask_metrics(struct asking *asking, bool is_large)
{
	struct report_answers *answers = asking->answers;
	const struct report_metric *chosen[REPORT_METRICS];
	uint32_t count = report_metrics_choose(&answers->findings, chosen);
	char *route = memory_string("samples?by=node");
	char *others = report_metrics_left_out(
	    &answers->findings, asking->request->partition);
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < count; i++) {
		char *word = encoded(chosen[i]->metric.at);
		char *longer = memory_format("%s&metric=%s", route, word);

		rc = ask_series(asking, chosen[i]);
		free(word);
		free(route);
		route = longer;
	}
	if (rc == 0 && count > 0 && !is_large)
		rc = ask_pool(
		    asking, route, "samples?by=node", "samples by node", NULL);
	if (others != NULL)
		leave_out(answers, others);
	free(others);
	free(route);
	return rc;
}

static int
ask_entry(struct asking *asking, const char *test, const char *entry)
{
	char *words[2] = { encoded(test), encoded(entry) };
	int rc = 0;

	for (int changes = 0; rc == 0 && changes < 2; changes++) {
		char *route = memory_format("results?%sentry=%s&test=%s",
		    changes ? "changes=true&" : "", words[1], words[0]);
		char *key = memory_format("results?%sentry=%s&test=%s",
		    changes ? "changes=true&" : "", entry, test);

		rc = ask_pool(asking, route, key, "some results", NULL);
		free(route);
		free(key);
	}
	free(words[0]);
	free(words[1]);
	return rc;
}

static int
ask_test(struct asking *asking, const char *test)
{
	struct names entries = { .table = "entries", .column = "entry" };
	const struct answer_taker taker = { take_name, &entries };
	char *word = encoded(test);
	char *route = memory_format("results?entries=true&test=%s", word);
	char *key = memory_format("results?entries=true&test=%s", test);
	int rc = ask_pool(asking, route, key, "some results", &taker);

	for (uint32_t i = 0; rc == 0 && i < entries.count; i++)
		rc = ask_entry(asking, test, entries.at[i]);
	if (entries.has_more)
		leave_out(asking->answers, "some results");
	names_clear(&entries);
	free(word);
	free(route);
	free(key);
	return rc;
}

static int
ask_results(struct asking *asking)
{
	struct names tests = { .table = "tests", .column = "test" };
	const struct answer_taker taker = { take_name, &tests };
	int rc = ask_pool(asking, "results", "results", "results", &taker);

	for (uint32_t i = 0; rc == 0 && i < tests.count; i++)
		rc = ask_test(asking, tests.at[i]);
	if (tests.has_more)
		leave_out(asking->answers, "some results");
	names_clear(&tests);
	return rc;
}

/* Of large pools the rows that matter most, of phases those of each phase, and
 * the states of all. */
static int
ask_nodes(struct asking *asking, bool is_large)
{
	struct report_answers *answers = asking->answers;
	const struct answer_taker *taker = &asking->findings;
	char rows[96];
	int rc;

	if (!is_large) {
		rc = ask_pool(asking, "nodes", "nodes", "the nodes", taker);
		if (rc == 0)
			rc = ask_pool(asking, "phases?by=node",
			    "phases?by=node", "phases by node", NULL);
		return rc == 0 ? ask_pool(asking, "usage", "usage",
				     "usage by node", NULL)
			       : -1;
	}
	rc =
	    ask_pool(asking, STATES, STATES, "the picture of the nodes", taker);
	snprintf(rows, sizeof(rows), "nodes?top=%d", ROWS_MAX);
	if (rc == 0)
		rc = ask_pool(asking, rows, "nodes", "the nodes", NULL);
	snprintf(
	    rows, sizeof(rows), "phases?by=node&sort=max&top=%d", ROWS_MAX);
	if (rc == 0)
		rc = ask_pool(
		    asking, rows, "phases?by=node", "phases by node", NULL);
	snprintf(rows, sizeof(rows),
	    "tables by node but for the first %d rows of nodes and of each "
	    "phase",
	    ROWS_MAX);
	leave_out(answers, rows);
	return rc;
}

/* The breakdown by the model that is chosen, and by each other. */
static int
ask_breakdown(struct asking *asking)
{
	struct names models = { .table = "models", .column = "model" };
	const struct answer_taker taker = { take_name, &models };
	int rc =
	    ask_pool(asking, BREAKDOWN, "breakdown", "the breakdown", &taker);

	for (uint32_t i = 0; rc == 0 && i < models.count; i++) {
		char *word, *route, *key;

		if (models.chosen == NULL ||
		    strcmp(models.at[i], models.chosen) == 0)
			continue;
		word = encoded(models.at[i]);
		route = memory_format(BREAKDOWN "&model=%s", word);
		key = memory_format("breakdown?model=%s", models.at[i]);
		rc = ask_pool(
		    asking, route, key, "the breakdown by some models", NULL);
		free(word);
		free(route);
		free(key);
	}
	names_clear(&models);
	return rc;
}

/* What is seen first is asked first: it has the room. */
static int
ask_all(struct asking *asking)
{
	static const struct {
		const char *route, *key;
		bool finds;
	} asked[] = {
		{ "phases", "phases", true },
		{ SLOW, "slow", true },
		{ "groups", "groups", true },
		{ "samples", "samples", true },
		{ "phases?by=key", "phases?by=key", false },
		{ TIMELINE, "timeline?order=name", false },
	};
	bool is_large = asking->answers->findings.nodes > NODES_MAX;
	char *runs = memory_format("runs?newest=%d", RUNS_MAX);
	int rc = report_find(asking->request, REPORT_WHY_URL,
	    &asking->answers->findings, asking->err);

	rc = rc < 0 ? -1 : 0;
	for (size_t i = 0; rc == 0 && i < sizeof(asked) / sizeof(*asked); i++)
		rc = ask_pool(asking, asked[i].route, asked[i].key,
		    asked[i].key, asked[i].finds ? &asking->findings : NULL);
	if (rc == 0)
		rc = ask_breakdown(asking);
	if (rc == 0)
		rc = ask_pool(asking, runs, "runs", "runs", NULL);
	if (rc == 0)
		rc = ask_pool(asking, "runs?by=error&top=6", "runs?by=error",
		    "errors of runs", NULL);
	if (rc == 0)
		rc = ask_nodes(asking, is_large);
	if (rc == 0)
		rc = ask_metrics(asking, is_large);
	if (rc == 0)
		rc = ask_results(asking);
	free(runs);
	return rc;
}

int
report_answers_read(struct report_answers *answers,
    const struct report_request *request, struct err *err)
{
	struct asking asking = { answers, request,
		{ report_findings_take, &answers->findings }, err };
	char *url = report_url_of_pool(request);
	int rc;

	*answers = (struct report_answers){ .count = 0 };
	rc = ask(
	    &asking, url, memory_string("pools"), "the pool", &asking.findings);
	if (rc > 0)
		rc = err_set(err, "there is no partition %.*s",
		    (int)request->partition.bytes, request->partition.at);
	if (rc == 0 && ask(&asking, "/v1/status", memory_string("status"),
			   "status", NULL) < 0)
		rc = -1;
	if (rc == 0)
		rc = ask_all(&asking);
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
	free(answers->at);
	free(answers->left_out);
	report_findings_clear(&answers->findings);
	*answers = (struct report_answers){ .count = 0 };
}
