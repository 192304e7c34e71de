/*
 * web_serve - from a request to its answer.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/web/serve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/web/assets.h"
#include "exporters/web/live.h"
#include "exporters/web/reply.h"
#include "exporters/web/workers.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

/* Of answers that are on their way. */
#define SENT_BYTES_MAX (UINT64_C(64) << 20)
#define DRAIN_NS       (NS_PER_SECOND / 50)
/* What one of /mcp counts as: each is answered by itself. */
enum { QUESTIONS_OF_MESSAGE = 10 };

struct web_serve {
	struct web_http *http;
	struct web_workers *workers;
	struct web_assets *assets;
	struct web_access *access;
	struct web_cache *cache;
	uint64_t memory_max; /* of the bodies that are held */
	struct web_live *live;
	struct loop *loop;
	struct loop_timer drain;
	bool answered;          /* all, when the loop last looked */
	struct web_task *asked; /* that are not answered yet */
	uint64_t refused;       /* with WEB_TOO_MANY */
	const struct source_options *source;
};

/* ---- answers ---- */

static void
answer_file(
    struct web_serve *serve, struct web_http_request *request, const char *name)
{
	const char *tag = web_assets_tag(serve->assets), *type;
	struct web_body *body = web_assets_get(serve->assets, name, &type);

	if (body == NULL) {
		web_refuse(request, WEB_MISSING,
		    "there is no such file; the page is at /");
	} else if (web_tag_is_in(
		       tag, web_http_header(request, "If-None-Match"))) {
		web_body_drop(&body);
		web_reply(request, WEB_NOT_MODIFIED, NULL, tag, "", NULL);
	} else {
		web_reply(request, WEB_OK, type, tag, "", body);
	}
}

/* ---- questions ---- */

static const char *
type_of(const struct web_question *question)
{
	if (web_route_is_trace(question->route))
		return "application/octet-stream";
	if (question->route != &web_metrics_route)
		return "application/json"; /* of web_mcp_route, too */
	return question->openmetrics ? "application/openmetrics-text; "
				       "version=1.0.0; charset=utf-8"
				     : "text/plain; version=0.0.4; "
				       "charset=utf-8";
}

/* What a trace has: "8 of 60 nodes, until 2026-11-26T15:20:11Z". */
static void
put_shown(char to[static WEB_SHOWN_BYTES], const struct timeline_shown *shown)
{
	char until[CLOCK_TEXT_BYTES];
	int used = shown->of == 0 ? snprintf(to, WEB_SHOWN_BYTES, "all nodes")
				  : snprintf(to, WEB_SHOWN_BYTES,
					"%" PRIu32 " of %" PRIu32 " nodes",
					shown->nodes, shown->of);

	if (shown->until_ns != TIME_MAX_NS) {
		clock_text(until, shown->until_ns, 9);
		used += snprintf(to + used, WEB_SHOWN_BYTES - (size_t)used,
		    ", until %s", until);
	}
	if (shown->left_out > 0)
		snprintf(to + used, WEB_SHOWN_BYTES - (size_t)used,
		    ", without %" PRIu64 " records that overlap too often",
		    shown->left_out);
}

static void
answer_task(struct web_http_request *request, struct web_task *task)
{
	if (task->status == WEB_ACCEPTED) {
		web_reply(request, WEB_ACCEPTED, NULL, "", "", NULL);
	} else if (task->status == WEB_NOT_MODIFIED) {
		web_reply(request, WEB_NOT_MODIFIED, NULL, task->tag,
		    task->shown, NULL);
	} else if (task->body == NULL) {
		web_refuse(request, task->status, task->err.text);
	} else {
		if (web_route_is_trace(task->question.route))
			put_shown(task->shown, &task->question.shown);
		web_body_hold(task->body);
		web_reply(request, task->status, type_of(&task->question),
		    task->tag, task->shown, task->body);
	}
}

static void
on_done(void *arg, struct web_task *task)
{
	struct web_serve *serve = arg;
	struct web_http_request *request, *next;
	struct web_task **link = &serve->asked;

	if (web_live_take(serve->live, task))
		return;
	while (*link != task)
		link = &(*link)->other;
	*link = task->other;
	for (request = task->data; request != NULL; request = next) {
		next = web_http_data(request);
		answer_task(request, task);
	}
	web_task_free(&task);
}

/* The same question, of somebody who sees the same and knows the same answer:
 * it is asked once. */
static bool
is_same(const struct web_task *a, const struct web_task *b)
{
	return a->question.route == b->question.route &&
	       a->question.route != &web_mcp_route &&
	       a->question.openmetrics == b->question.openmetrics &&
	       a->url.used == b->url.used &&
	       memcmp(a->url.decoded, b->url.decoded, a->url.used) == 0 &&
	       strcmp(a->question.right.pattern, b->question.right.pattern) ==
		   0 &&
	       strcmp(a->none_match, b->none_match) == 0;
}

/* /v1/WORD, or /v1/pools/PARTITION/WORD.  Returns 0, or the status. */
static unsigned
find_route(struct web_task *task, struct err *err)
{
	const struct web_url *url = &task->url;
	struct web_question *question = &task->question;
	bool pool =
	    url->segment_count == 4 && strcmp(url->segments[1], "pools") == 0;

	if (strcmp(url->segments[0], "metrics") == 0) {
		question->route = &web_metrics_route;
		return 0;
	}
	if (url->segment_count != 2 && !pool) {
		err_set(err, "there is no such route; /v1/status and "
			     "/v1/pools/POOL/phases are two");
		return WEB_MISSING;
	}
	question->route = web_route_find(pool ? web_pool_routes : web_routes,
	    url->segments[url->segment_count - 1], err);
	if (question->route == NULL)
		return WEB_MISSING;
	if (!pool)
		return 0;
	question->partition = text_of(url->segments[2]);
	if (text_check_name(question->partition) != TEXT_OK) {
		err_set(err, "the partition %s",
		    text_fault_words(text_check_name(question->partition)));
		return WEB_BAD;
	}
	if (question->limit != NULL &&
	    !text_match_partition(
		text_of(question->limit), question->partition)) {
		err_set(err, "there is no partition of this name that the "
			     "token may read");
		return WEB_MISSING;
	}
	return 0;
}

static unsigned
read_question(struct web_serve *serve, struct web_http_request *request,
    struct web_task *task, struct err *err)
{
	struct web_question *question = &task->question;
	const char *none_match = web_http_header(request, "If-None-Match");
	const char *accepts = web_http_header(request, "Accept");
	unsigned status;

	question->options = serve->source;
	question->format = ANSWER_FORMAT_JSON;
	question->openmetrics =
	    accepts != NULL && strstr(accepts, "openmetrics") != NULL;
	if (none_match != NULL && strlen(none_match) < WEB_NONE_MATCH_BYTES)
		strcpy(task->none_match, none_match);
	if (web_access_check(serve->access,
		web_http_header(request, "Authorization"), &question->right,
		err) != 0)
		return WEB_UNAUTHORIZED;
	if (question->right.pattern[0] != '\0')
		question->limit = question->right.pattern;
	question->refused = serve->refused;
	status = find_route(task, err);
	if (status != 0)
		return status;
	/* They have sums of the whole store. */
	if (question->route == &web_metrics_route && question->limit != NULL) {
		err_set(err, "metrics are of all pools: they need a token "
			     "without a pattern");
		return WEB_FORBIDDEN;
	}
	if (web_query_parse(&question->query, &task->url,
		web_route_parameters(question->route), err) != 0)
		return WEB_BAD;
	return 0;
}

/* May the token ask that many questions?  Else the request is answered. */
static bool
admit(struct web_serve *serve, struct web_http_request *request,
    const struct web_right *right, uint32_t count)
{
	uint32_t ms = web_access_wait_ms(serve->access, right, count);

	if (ms > 0) {
		web_refuse_rate(request, ms);
		serve->refused++;
	}
	return ms == 0;
}

static bool
join(struct web_serve *serve, struct web_http_request *request,
    const struct web_task *task)
{
	for (struct web_task *asked = serve->asked; asked != NULL;
	     asked = asked->other) {
		if (!is_same(asked, task))
			continue;
		web_http_set_data(request, asked->data);
		asked->data = request;
		return true;
	}
	return false;
}

/* Takes the task, or refuses the request: too many wait. */
static void
begin_task(struct web_serve *serve, struct web_http_request *request,
    struct web_task **task)
{
	struct err err;
	unsigned status;

	(*task)->data = request;
	status = web_workers_begin(serve->workers, *task, &err);
	if (status != 0) {
		web_refuse(request, status, err.text);
		serve->refused += status == WEB_TOO_MANY;
		return;
	}
	(*task)->other = serve->asked;
	serve->asked = *task;
	*task = NULL;
}

static void
ask(struct web_serve *serve, struct web_http_request *request,
    struct web_task **task)
{
	struct err err = { 0 };
	unsigned status = read_question(serve, request, *task, &err);

	if (status != WEB_UNAUTHORIZED &&
	    !admit(serve, request, &(*task)->question.right, 1))
		return;
	if (status == 0 && web_body_memory_of_all() > serve->memory_max) {
		status = WEB_UNAVAILABLE;
		err_set(&err, "too many answers wait to be fetched; ask again "
			      "later");
	}
	if (status != 0)
		web_refuse(request, status, err.text);
	else if (!join(serve, request, *task))
		begin_task(serve, request, task);
}

/* POST /mcp: a message of the Model Context Protocol.  A page of another server
 * could send one without a token, and a token is no reason to answer it. */
static void
ask_message(struct web_serve *serve, struct web_http_request *request,
    struct web_task **task)
{
	struct web_question *question = &(*task)->question;
	struct err err;

	if (web_access_check_origin(
		serve->access, web_http_header(request, "Origin"), &err) != 0) {
		web_refuse(request, WEB_FORBIDDEN, err.text);
	} else if (web_access_check(serve->access,
		       web_http_header(request, "Authorization"),
		       &question->right, &err) != 0) {
		web_refuse(request, WEB_UNAUTHORIZED, err.text);
	} else if (!admit(serve, request, &question->right,
		       QUESTIONS_OF_MESSAGE)) {
		return;
	} else if (!web_http_body(request, &(*task)->message)) {
		web_refuse(
		    request, WEB_TOO_LONG, "a message has at most 64 KiB");
	} else {
		question->route = &web_mcp_route;
		question->options = serve->source;
		if (question->right.pattern[0] != '\0')
			question->limit = question->right.pattern;
		(*task)->fields = (struct mcp_fields){
			web_http_header(request, "Mcp-Protocol-Version"),
			web_http_header(request, "Mcp-Method"),
			web_http_header(request, "Mcp-Name")
		};
		begin_task(serve, request, task);
	}
}

/* /v1/live?pool=PARTITION */
static void
follow(struct web_serve *serve, struct web_http_request *request,
    const struct web_url *url)
{
	struct web_right right;
	struct text partition;
	struct err err;

	if (web_access_check(serve->access,
		web_http_header(request, "Authorization"), &right, &err) != 0) {
		web_refuse(request, WEB_UNAUTHORIZED, err.text);
		return;
	}
	if (!admit(serve, request, &right, 1))
		return;
	if (url->parameter_count != 1 ||
	    strcmp(url->parameters[0].name, "pool") != 0) {
		web_refuse(request, WEB_BAD,
		    "live has one parameter, pool: the partition");
		return;
	}
	partition = text_of(url->parameters[0].value);
	if (text_check_name(partition) != TEXT_OK ||
	    (right.pattern[0] != '\0' &&
		!text_match_partition(text_of(right.pattern), partition))) {
		web_refuse(request, WEB_MISSING,
		    "there is no partition of this name that the token may "
		    "read");
		return;
	}
	web_live_add(serve->live, request, partition, &right);
}

/* ---- requests ---- */

static void
route(struct web_serve *serve, struct web_http_request *request,
    struct web_task **task)
{
	const struct web_url *url = &(*task)->url;
	const char *first = url->segments[0];

	if (strcmp(first, "v1") == 0 && url->segment_count == 2 &&
	    strcmp(url->segments[1], "live") == 0) {
		follow(serve, request, url);
	} else if (strcmp(first, "v1") == 0 && url->segment_count == 2 &&
		   strcmp(url->segments[1], WEB_ASSETS_API) == 0) {
		answer_file(serve, request, WEB_ASSETS_API);
	} else if (strcmp(first, "v1") == 0 ||
		   (strcmp(first, "metrics") == 0 && url->segment_count == 1)) {
		ask(serve, request, task);
	} else if (url->segment_count > 1) {
		web_refuse(request, WEB_MISSING, "there is no such route");
	} else if (strcmp(first, "healthz") == 0) {
		web_reply(request, WEB_OK, "text/plain", "", "",
		    web_body_new_static((const unsigned char *)"ok\n", 3));
	} else {
		answer_file(
		    serve, request, first[0] == '\0' ? "index.html" : first);
	}
}

static void
on_request(void *arg, struct web_http_request *request)
{
	struct web_serve *serve = arg;
	const char *method = web_http_method(request);
	bool is_message = web_is_message(request);
	bool is_read =
	    strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
	struct web_task *task;
	struct err err;

	if (is_message ? strcmp(method, "POST") != 0 : !is_read) {
		web_refuse_method(request, is_message ? "POST" : "GET, HEAD");
		return;
	}
	if (web_http_hosts(request) > 1) {
		web_refuse(request, WEB_BAD, "the request has several Hosts");
		return;
	}
	if (web_access_check_host(
		serve->access, web_http_header(request, "Host"), &err) != 0) {
		web_refuse(request, WEB_FORBIDDEN, err.text);
		return;
	}
	task = memory_zero(1, sizeof(*task));
	if (web_url_parse(&task->url, web_http_target(request), &err) != 0)
		web_refuse(request, WEB_BAD, err.text);
	else if (is_message)
		ask_message(serve, request, &task);
	else
		route(serve, request, &task);
	web_task_free(&task);
}

/* ---- opening and closing ---- */

int
web_serve_open(struct web_serve **made, struct loop *loop,
    const struct web_serve_options *options, struct err *err)
{
	struct web_serve *serve = *made = memory_zero(1, sizeof(*serve));
	const struct web_http_options how = {
		.fd = options->fd, .on_request = on_request, .arg = serve
	};

	serve->loop = loop;
	serve->access = options->access;
	serve->source = options->source;
	serve->cache = web_cache_new(options->cache_bytes);
	serve->memory_max = options->cache_bytes + SENT_BYTES_MAX;
	if (web_assets_open(
		&serve->assets, options->assets, options->viewer, err) != 0 ||
	    web_workers_start(&serve->workers, loop, serve->source,
		serve->cache, on_done, serve, err) != 0)
		return -1;
	serve->live =
	    web_live_new(loop, serve->workers, serve->access, serve->source);
	return web_http_open(&serve->http, loop, &how, err);
}

/* The last answers need some rounds of the loop to be sent. */
static void
on_drain(void *arg, struct loop_timer *timer)
{
	struct web_serve *serve = arg;

	(void)timer;
	if (serve->answered)
		loop_quit(serve->loop, EXIT_SUCCESS);
	serve->answered = serve->asked == NULL;
}

void
web_serve_drain(struct web_serve *serve)
{
	web_http_quiesce(serve->http);
	web_live_stop(serve->live);
	serve->drain =
	    (struct loop_timer){ .on_timer = on_drain, .arg = serve };
	loop_set_timer(serve->loop, &serve->drain,
	    clock_monotonic_ns() + DRAIN_NS, DRAIN_NS);
}

void
web_serve_close(struct web_serve **serve)
{
	struct web_serve *old = *serve;

	*serve = NULL;
	if (old == NULL)
		return;
	if (old->live != NULL)
		web_live_stop(old->live);
	web_workers_stop(&old->workers);
	web_http_close(&old->http);
	web_live_free(&old->live);
	web_assets_close(&old->assets);
	web_cache_free(&old->cache);
	free(old);
}
