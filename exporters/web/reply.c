/*
 * web_reply - answers with the header fields that browsers heed.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/web/reply.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exporters/mcp/mcp.h"
#include "proto/base/err.h"
#include "proto/json/json.h"

enum { FIELDS_MAX = 20 };

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

/* `more` may have no name. */
static void
put_fields(struct web_http_field to[static FIELDS_MAX], const char *type,
    const char *tag, struct web_http_field more)
{
	size_t count = sizeof(security) / sizeof(*security);

	memcpy(to, security, sizeof(security));
	if (type != NULL)
		to[count++] = (struct web_http_field){ "Content-Type", type };
	if (tag[0] != '\0')
		to[count++] = (struct web_http_field){ "ETag", tag };
	if (more.name != NULL)
		to[count++] = more;
	to[count] = (struct web_http_field){ NULL, NULL };
}

void
web_reply(struct web_http_request *request, unsigned status, const char *type,
    const char *tag, const char *shown, struct web_body *body)
{
	struct web_http_field fields[FIELDS_MAX];

	put_fields(fields, type, tag,
	    (struct web_http_field){
		shown[0] != '\0' ? "Poolscope-Shows" : NULL, shown });
	web_http_answer(request, status, fields, body);
}

struct web_http_stream *
web_reply_events(
    struct web_http_request *request, void (*on_end)(void *arg), void *arg)
{
	struct web_http_field fields[FIELDS_MAX];

	/* A proxy must not collect the events. */
	put_fields(fields, "text/event-stream", "",
	    (struct web_http_field){ "X-Accel-Buffering", "no" });
	return web_http_answer_stream(request, fields, on_end, arg);
}

/* ---- errors ---- */

static const char *
title_of(unsigned status)
{
	static const struct {
		unsigned status;
		const char *title;
	} titles[] = {
		{ 400, "Bad Request" },
		{ 401, "Unauthorized" },
		{ 403, "Forbidden" },
		{ 404, "Not Found" },
		{ 405, "Method Not Allowed" },
		{ 410, "Gone" },
		{ 413, "Content Too Large" },
		{ 429, "Too Many Requests" },
		{ 503, "Service Unavailable" },
	};

	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		if (titles[i].status == status)
			return titles[i].title;
	return "Internal Server Error";
}

/* Parameters are called as the options, without their dashes; a command that
 * the sentence names keeps them. */
static void
drop_dashes(char *text)
{
	const char *command = strstr(text, "poolscope ");
	char *to = text;

	for (const char *from = text; *from != '\0'; from++) {
		bool begins = from == text || from[-1] == ' ' ||
			      from[-1] == '(' || from[-1] == '\'';

		if (begins && (command == NULL || from < command) &&
		    strncmp(from, "--", 2) == 0 && from[2] >= 'a' &&
		    from[2] <= 'z')
			from += 2;
		*to++ = *from;
	}
	*to = '\0';
}

static struct web_body *
make_problem(unsigned status, const char *detail)
{
	struct json_memory memory;
	struct json *json = &memory.to;
	struct text text;
	char sentence[ERR_BYTES];

	snprintf(sentence, sizeof(sentence), "%s", detail);
	if (status < WEB_BROKEN) /* it is about parameters */
		drop_dashes(sentence);
	json_memory_begin(&memory, JSON_INDENTED | JSON_STRICT);
	json_begin_object(json);
	json_add_string(json, "type", "about:blank");
	json_add_string(json, "title", title_of(status));
	json_add_uint(json, "status", status);
	json_add_string(json, "detail", sentence);
	json_end_object(json);
	text = json_memory_end(&memory);
	return web_body_new(memory.text, text.bytes);
}

/* What clients of the Model Context Protocol show. */
static struct web_body *
make_message(const char *detail)
{
	struct buffer message = { .at = NULL };

	mcp_refuse(MCP_REFUSED, detail, &message);
	return web_body_new((char *)message.at, message.bytes);
}

bool
web_is_message(struct web_http_request *request)
{
	return text_equal(web_http_target(request), text_of("/mcp"));
}

static void
refuse(struct web_http_request *request, unsigned status, const char *detail,
    struct web_http_field more)
{
	bool is_message = web_is_message(request);
	struct web_http_field fields[FIELDS_MAX];

	put_fields(fields,
	    is_message ? "application/json" : "application/problem+json", "",
	    more);
	web_http_answer(request, status, fields,
	    is_message ? make_message(detail) : make_problem(status, detail));
}

void
web_refuse(
    struct web_http_request *request, unsigned status, const char *detail)
{
	struct web_http_field more = { NULL, NULL };

	if (status == WEB_UNAUTHORIZED)
		more = (struct web_http_field){ "WWW-Authenticate", "Bearer" };
	else if (status == WEB_TOO_MANY || status == WEB_UNAVAILABLE)
		more = (struct web_http_field){ "Retry-After", "1" };
	refuse(request, status, detail, more);
}

void
web_refuse_method(struct web_http_request *request, const char *allowed)
{
	char detail[80];

	snprintf(detail, sizeof(detail), "the methods that are allowed: %s",
	    allowed);
	refuse(request, WEB_NOT_ALLOWED, detail,
	    (struct web_http_field){ "Allow", allowed });
}

void
web_refuse_rate(struct web_http_request *request, uint32_t wait_ms)
{
	char seconds[16];

	snprintf(seconds, sizeof(seconds), "%" PRIu32, (wait_ms + 999) / 1000);
	refuse(request, WEB_TOO_MANY,
	    "the token asks more often than poolscope web --request-rate "
	    "allows; ask again later",
	    (struct web_http_field){ "Retry-After", seconds });
}
