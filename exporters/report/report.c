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
#include "proto/answer/cell.h"
#include "proto/base/memory.h"
#include "proto/json/json_fields.h"
#include "proto/json/json_find.h"
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
	if (web_query_allows(allowed, "from") &&
	    request->from_ns != TIME_MIN_NS)
		query->window.from_ns = request->from_ns;
	if (web_query_allows(allowed, "to") && request->to_ns != TIME_MAX_NS)
		query->window.to_ns = request->to_ns;
}

static int
answer(struct web_question *question, const struct web_url *url,
    const struct report_request *request, FILE *file, struct err *err)
{
	struct source *source = request->source;
	bool bad = false;
	int rc;

	if (find(question, url, request, err) != 0 ||
	    web_query_parse(&question->query, url,
		web_route_parameters(question->route), err) != 0)
		return -1;
	set_time(question, request);
	source_renew(source);
	rc = web_route_answer(source, question, file, &bad, err);
	if (source_check_damage(source, rc, err) != 0 && rc == 0)
		return -1;
	if (rc == 0)
		return question->partition.bytes > 0 && source_is_empty(source);
	return bad || source_has_failed(source) ? -1 : 1;
}

/* Ask one question, "/v1/pools/P/phases?by=node", and print the answer.  1: it
 * has none, such as phases of a pool without events; -1: the source failed. */
static int
report_ask(const struct report_request *request, const char *url,
    enum answer_format format, FILE *file, struct err *err)
{
	struct web_url *parsed = memory_zero(1, sizeof(*parsed));
	char *limit = memory_text(request->partition);
	struct web_question *question = memory_zero(1, sizeof(*question));
	int rc;

	question->options = request->options;
	question->format = format;
	question->limit = limit;
	source_limit(request->source, limit);
	rc = web_url_parse(parsed, text_of(url), err);
	if (rc == 0)
		rc = answer(question, parsed, request, file, err);
	source_limit(request->source, NULL);
	free(question);
	free(limit);
	free(parsed);
	return rc;
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

/*
 * The findings of a report, for a ticket or a mail.
 *
 * The tables are those of the commands.  In Markdown they are indented by four
 * blanks, which leaves no text in them a meaning.
 */

static const struct {
	const char *title, *route;
} parts[] = {
	{ "Phases", "phases" },
	{ "The longest phases by node", "phases?by=node&sort=max&top=5" },
	{ "Nodes that need attention", "nodes?top=10" },
	{ "Groups of runs", "groups" },
	{ "Newest runs", "runs?newest=20" },
	{ "Usage", "usage?top=10" },
	{ "Samples", "samples" },
	{ "Results of benchmarks", "results" },
};

static void
put_lines(FILE *file, const char *text, const char *before)
{
	while (*text != '\0') {
		size_t bytes = strcspn(text, "\n");

		if (bytes > 0)
			fprintf(file, "%s%.*s", before, (int)bytes, text);
		fputc('\n', file);
		text += bytes + (text[bytes] == '\n');
	}
}

static void
put_title(FILE *file, const char *title, bool markdown)
{
	if (markdown) {
		fprintf(file, "\n## %s\n\n", title);
		return;
	}
	fprintf(file, "\n%s\n", title);
	for (size_t i = 0; i < strlen(title); i++)
		fputc('-', file);
	fputs("\n", file);
}

static int
put_part(FILE *file, const struct report_request *request, const char *title,
    const char *url, bool markdown, struct err *err)
{
	char *text;
	size_t bytes;
	FILE *to = memory_stream(&text, &bytes);
	struct err none = { 0 };
	int rc = report_ask(request, url, ANSWER_FORMAT_TABLE, to, &none);

	memory_stream_end(&to);
	if (rc == 0 && bytes > 0) {
		put_title(file, title, markdown);
		put_lines(file, text, markdown ? "    " : "");
	}
	free(text);
	if (rc < 0)
		*err = none;
	return rc < 0 ? -1 : 0;
}

int
report_text_write(FILE *file, const struct report_request *request,
    bool markdown, struct err *err)
{
	char *name = report_url(request, "%s", "");
	char *url;
	int rc;

	/* The name as it is in the path, without "/v1/pools/" and "/". */
	name[strlen(name) - 1] = '\0';
	url = memory_format("/v1/pools?name=%s", name + strlen("/v1/pools/"));
	fputs(markdown ? "# Report of a pool\n" : "Report of a pool\n", file);
	rc = put_part(file, request, "Pool", url, markdown, err);
	for (size_t i = 0; rc == 0 && i < sizeof(parts) / sizeof(*parts); i++) {
		char *of_pool = report_url(request, "%s", parts[i].route);

		rc = put_part(
		    file, request, parts[i].title, of_pool, markdown, err);
		free(of_pool);
	}
	free(name);
	free(url);
	return rc;
}

/* All that the page shows of a pool, within a bound. */

enum {
	PACKED_MAX = 270 << 10, /* of all; in the file a third more */
	NODES_MAX = 500,        /* of larger pools only the first rows */
	ROWS_MAX = 200,
	RUNS_MAX = 200,
	METRICS_MAX = 64,
	TESTS_MAX = 16,
	ENTRIES_MAX = 16,
};

#define BREAKDOWN "breakdown?rows=800&shape=columns"
#define TIMELINE                                                               \
	"timeline?rows=320&pixels=1400&order=name&shape=columns&columns=row,"  \
	"pixel,pixels,phase,share,offset,duration,key,open"

#define SLOW "slow?columns=node,phase,key,time,usual,above,open&top=500"

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
answers_find(const struct report_answers *answers, const char *key)
{
	for (uint32_t i = 0; i < answers->count; i++)
		if (strcmp(answers->at[i].key, key) == 0)
			return &answers->at[i];
	return NULL;
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
	int rc =
	    report_ask(asking->request, url, ANSWER_FORMAT_JSON, file, &err);

	memory_stream_end(&file);
	if (rc == 0 && asking->request->is_anonymous)
		hide_places(text, &bytes);
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

/* The rows, or another list, of an answer that was put. */
static struct text
list_of(const struct asking *asking, const char *key, const char *name)
{
	const struct report_answer *answer = answers_find(asking->answers, key);

	return answer == NULL ? (struct text){ NULL, 0 }
			      : json_find((struct text){ answer->text,
					      (uint32_t)answer->bytes },
				    name);
}

/* The same of an answer about the pool. */
static struct text
pool_list_of(const struct asking *asking, const char *route, const char *name)
{
	char *key = memory_format("pools/%.*s/%s",
	    (int)asking->request->partition.bytes,
	    asking->request->partition.at, route);
	struct text list = list_of(asking, key, name);

	free(key);
	return list;
}

static uint64_t
count_nodes(const struct asking *asking)
{
	struct text pools = list_of(asking, "pools", "rows"), pool;
	struct value nodes = { .is.i = 0 };

	if (json_find_item(&pools, &pool))
		json_fields_number(json_find(pool, "nodes"), &nodes, NULL);
	return nodes.type == VALUE_INT ? (uint64_t)nodes.is.i : 0;
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

/* Each metric of the samples, over time. */
static int
ask_metrics(struct asking *asking)
{
	struct text rows = pool_list_of(asking, "samples", "rows"), row;
	struct text asked[METRICS_MAX];
	uint32_t count = 0;
	int rc = 0;

	while (rc == 0 && json_find_item(&rows, &row)) {
		struct text value = json_find(row, "metric");
		char *metric = json_find_string(value);
		uint32_t i = 0;

		while (i < count && !text_equal(value, asked[i]))
			i++;
		if (metric != NULL && i == METRICS_MAX) {
			leave_out(asking->answers,
			    "the metrics after the first %d, over time",
			    METRICS_MAX);
			free(metric);
			break;
		}
		if (metric != NULL && i == count) {
			asked[count++] = value;
			rc = ask_series(asking, metric);
		}
		free(metric);
	}
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
	struct text rows = pool_list_of(asking, key, "rows"), row;

	for (int i = 0; rc == 0 && json_find_item(&rows, &row); i++) {
		char *entry;

		if (i == ENTRIES_MAX) {
			leave_out(asking->answers,
			    "entries of %s after the first %d", test,
			    ENTRIES_MAX);
			break;
		}
		entry = json_find_string(json_find(row, "entry"));
		if (entry != NULL)
			rc = ask_entry(asking, test, entry);
		free(entry);
	}
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
	struct text rows = pool_list_of(asking, "results", "rows"), row;

	for (int i = 0; rc == 0 && json_find_item(&rows, &row); i++) {
		char *test;

		if (i == TESTS_MAX) {
			leave_out(asking->answers,
			    "results of tests after the first %d", TESTS_MAX);
			break;
		}
		test = json_find_string(json_find(row, "test"));
		if (test != NULL)
			rc = ask_test(asking, test);
		free(test);
	}
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

/* The breakdown by each model but the first, which was asked for. */
static int
ask_models(struct asking *asking)
{
	struct text first = pool_list_of(asking, "breakdown", "model");
	struct text models =
	    json_find(pool_list_of(asking, "breakdown", "models"), "model");
	struct text name;
	int rc = 0;

	if (first.bytes == 0 || json_fields_is_null(first))
		return 0;
	while (rc == 0 && json_find_item(&models, &name)) {
		char *model, *word, *route, *key, *what;

		if (text_equal(name, first))
			continue;
		model = json_find_string(name);
		word = encoded(model);
		route = memory_format(BREAKDOWN "&model=%s", word);
		key = memory_format("breakdown?model=%s", model);
		what = memory_format("the breakdown by %s", model);
		rc = ask_pool(asking, route, key, what);
		free(model);
		free(word);
		free(route);
		free(key);
		free(what);
	}
	return rc;
}

static int
ask_all(struct asking *asking)
{
	char *runs = memory_format("runs?newest=%d", RUNS_MAX);
	uint64_t nodes = count_nodes(asking);
	int rc = ask_pool(asking, "phases", "phases", "phases");

	if (rc == 0)
		rc = ask_pool(asking, "starts?newest=4", "starts", "starts");
	if (rc == 0)
		rc = ask_pool(asking, SLOW, "slow", "slow nodes");
	if (rc == 0)
		rc = ask_pool(
		    asking, "phases?by=key", "phases?by=key", "phases by key");
	if (rc == 0)
		rc = ask_pool(asking, BREAKDOWN, "breakdown", "the breakdown");
	if (rc == 0)
		rc = ask_pool(
		    asking, TIMELINE, "timeline?order=name", "the timeline");
	if (rc == 0)
		rc = ask_pool(asking, runs, "runs", "runs");
	if (rc == 0)
		rc = ask_pool(asking, "runs?by=error&top=6", "runs?by=error",
		    "errors of runs");
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
