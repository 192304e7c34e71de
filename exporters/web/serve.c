/*
 * web_serve - from a request to its answer.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/web/serve.h"

#include <stdlib.h>
#include <string.h>

#include "exporters/web/assets.h"
#include "exporters/web/http/http.h"
#include "exporters/web/problem.h"
#include "exporters/web/workers.h"
#include "proto/base/memory.h"

enum {
	OK = 200,
	NOT_MODIFIED = 304,
	BAD = 400,
	UNAUTHORIZED = 401,
	FORBIDDEN = 403,
	MISSING = 404,
	NOT_ALLOWED = 405,
	BUSY = 503,
};

struct web_serve {
	struct web_http *http;
	struct web_workers *workers;
	struct web_assets *assets;
	struct web_access *access;
	const struct source_options *source;
};

/* ---- answers ---- */

static const struct web_http_field security[] = {
	{ "Content-Security-Policy",
	    "default-src 'none'; script-src 'self'; style-src 'self'; "
	    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; "
	    "form-action 'none'; frame-ancestors 'none'; "
	    "require-trusted-types-for 'script'" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Cache-Control", "no-cache" },
	{ "Vary", "Accept-Encoding, Authorization" },
};

/* `more` ends with a name that is NULL. */
static void
answer(struct web_http_request *request, unsigned status, const char *type,
    const struct web_http_field *more, struct web_body *body)
{
	struct web_http_field fields[WEB_HTTP_FIELDS_MAX];
	size_t count = sizeof(security) / sizeof(*security);

	memcpy(fields, security, sizeof(security));
	if (type != NULL)
		fields[count++] =
		    (struct web_http_field){ "Content-Type", type };
	for (; more != NULL && more->name != NULL; more++)
		fields[count++] = *more;
	fields[count] = (struct web_http_field){ NULL, NULL };
	web_http_answer(request, status, fields, body);
}

static void
refuse(struct web_http_request *request, unsigned status, const char *detail)
{
	const struct web_http_field more[] = {
		status == NOT_ALLOWED
		    ? (struct web_http_field){ "Allow", "GET, HEAD" }
		    : (struct web_http_field){ "WWW-Authenticate", "Bearer" },
		{ NULL, NULL },
	};

	answer(request, status, WEB_PROBLEM_TYPE,
	    status == NOT_ALLOWED || status == UNAUTHORIZED ? more : NULL,
	    web_problem(status, detail));
}

static bool
is_current(const struct web_http_request *request, const char *tag)
{
	const char *has = web_http_header(request, "If-None-Match");

	return has != NULL && tag[0] != '\0' && strstr(has, tag) != NULL;
}

static void
answer_file(
    struct web_serve *serve, struct web_http_request *request, const char *name)
{
	const char *tag = web_assets_tag(serve->assets), *type;
	const struct web_http_field more[] = {
		{ tag[0] != '\0' ? "ETag" : NULL, tag },
		{ NULL, NULL },
	};
	struct web_body *body = web_assets_get(serve->assets, name, &type);

	if (body == NULL) {
		refuse(request, MISSING,
		    "there is no such file; the page is at /");
	} else if (is_current(request, tag)) {
		web_body_drop(&body);
		answer(request, NOT_MODIFIED, NULL, more, NULL);
	} else {
		answer(request, OK, type, more, body);
	}
}

/* ---- questions ---- */

static void
on_done(void *arg, struct web_task *task)
{
	struct web_http_request *request = task->data;
	struct web_body *body = task->body;

	(void)arg;
	task->body = NULL;
	if (body == NULL)
		refuse(request, task->status, task->err.text);
	else
		answer(request, task->status, "application/json", NULL, body);
	web_task_free(&task);
}

/* /v1/WORD, or /v1/pools/PARTITION/WORD.  Returns 0, or the status. */
static unsigned
find_route(struct web_task *task, struct err *err)
{
	const struct web_url *url = &task->url;
	struct web_question *question = &task->question;
	bool pool =
	    url->segment_count == 4 && strcmp(url->segments[1], "pools") == 0;

	if (url->segment_count != 2 && !pool) {
		err_set(err, "there is no such route; /v1/status and "
			     "/v1/pools/POOL/phases are two");
		return MISSING;
	}
	question->route = web_route_find(pool ? web_pool_routes : web_routes,
	    url->segments[url->segment_count - 1], err);
	if (question->route == NULL)
		return MISSING;
	if (!pool)
		return 0;
	question->partition = text_of(url->segments[2]);
	if (text_check_name(question->partition) != TEXT_OK) {
		err_set(err, "the partition %s",
		    text_fault_words(text_check_name(question->partition)));
		return BAD;
	}
	if (question->limit != NULL &&
	    !text_match_partition(
		text_of(question->limit), question->partition)) {
		err_set(err, "there is no partition of this name that the "
			     "token may read");
		return MISSING;
	}
	return 0;
}

static unsigned
read_question(struct web_serve *serve, struct web_http_request *request,
    struct web_task *task, struct err *err)
{
	struct web_question *question = &task->question;
	unsigned status;

	question->options = serve->source;
	if (web_access_check(serve->access,
		web_http_header(request, "Authorization"), &question->right,
		err) != 0)
		return UNAUTHORIZED;
	if (question->right.pattern[0] != '\0')
		question->limit = question->right.pattern;
	status = find_route(task, err);
	if (status != 0)
		return status;
	if (web_query_parse(&question->query, &task->url,
		question->route->parameters, err) != 0)
		return BAD;
	return 0;
}

static void
ask(struct web_serve *serve, struct web_http_request *request,
    struct web_task **task)
{
	struct err err = { 0 };
	unsigned status = read_question(serve, request, *task, &err);

	if (status == 0) {
		(*task)->data = request;
		if (web_workers_begin(serve->workers, *task)) {
			*task = NULL;
			return;
		}
		status = BUSY;
		err_set(&err, "too many questions wait; ask again later");
	}
	refuse(request, status, err.text);
}

/* ---- requests ---- */

static void
route(struct web_serve *serve, struct web_http_request *request,
    struct web_task **task)
{
	const struct web_url *url = &(*task)->url;
	const char *first = url->segments[0];

	if (strcmp(first, "v1") == 0) {
		ask(serve, request, task);
	} else if (url->segment_count > 1) {
		refuse(request, MISSING, "there is no such route");
	} else if (strcmp(first, "healthz") == 0) {
		answer(request, OK, "text/plain", NULL,
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
	struct web_task *task;
	struct err err;

	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
		refuse(request, NOT_ALLOWED, "only GET and HEAD are allowed");
		return;
	}
	if (web_access_check_host(
		serve->access, web_http_header(request, "Host"), &err) != 0) {
		refuse(request, FORBIDDEN, err.text);
		return;
	}
	task = memory_zero(1, sizeof(*task));
	if (web_url_parse(&task->url, web_http_target(request), &err) != 0)
		refuse(request, BAD, err.text);
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

	serve->access = options->access;
	serve->source = options->source;
	if (web_assets_open(&serve->assets, options->assets, err) != 0 ||
	    web_workers_start(
		&serve->workers, loop, serve->source, on_done, serve, err) != 0)
		return -1;
	return web_http_open(&serve->http, loop, &how, err);
}

void
web_serve_quiesce(struct web_serve *serve)
{
	web_http_quiesce(serve->http);
}

void
web_serve_close(struct web_serve **serve)
{
	struct web_serve *old = *serve;

	*serve = NULL;
	if (old == NULL)
		return;
	web_workers_stop(&old->workers);
	web_http_close(&old->http);
	web_assets_close(&old->assets);
	free(old);
}
