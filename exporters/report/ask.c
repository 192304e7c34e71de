/*
 * report_ask - ask what a route of poolscope-web answers.
 * SPDX-License-Identifier: MIT
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/report/report.h"
#include "exporters/web/answers.h"
#include "proto/base/memory.h"

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

	if (web_query_allows(allowed, "from") &&
	    request->from_ns != TIME_MIN_NS)
		query->window.from_ns = request->from_ns;
	if (web_query_allows(allowed, "to") && request->to_ns != TIME_MAX_NS)
		query->window.to_ns = request->to_ns;
	query->runs.from_ns = query->window.from_ns;
	query->runs.to_ns = query->window.to_ns;
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

int
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

char *
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
