/*
 * web_url - any bytes as the target of a request: what is understood is bounded
 * UTF-8 without control characters, and says the same when it is encoded again;
 * as a query it is understood or refused.
 * SPDX-License-Identifier: MIT
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/web/answers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_text(const char *t)
{
	for (const char *c = t; *c != '\0'; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			abort();
	if (!text_is_utf8(text_of(t)))
		abort();
}

/* Write what was understood. */
static size_t
encode(char *to, const struct web_url *url)
{
	char *at = to;

	for (uint32_t i = 0; i < url->segment_count; i++) {
		*at++ = '/';
		at = web_url_encode(at, text_of(url->segments[i]));
	}
	for (uint32_t i = 0; i < url->parameter_count; i++) {
		*at++ = i == 0 ? '?' : '&';
		at = web_url_encode(at, text_of(url->parameters[i].name));
		*at++ = '=';
		at = web_url_encode(at, text_of(url->parameters[i].value));
	}
	return (size_t)(at - to);
}

static bool
is_same(const struct web_url *a, const struct web_url *b)
{
	if (a->segment_count != b->segment_count ||
	    a->parameter_count != b->parameter_count)
		return false;
	for (uint32_t i = 0; i < a->segment_count; i++)
		if (strcmp(a->segments[i], b->segments[i]) != 0)
			return false;
	for (uint32_t i = 0; i < a->parameter_count; i++)
		if (strcmp(a->parameters[i].name, b->parameters[i].name) != 0 ||
		    strcmp(a->parameters[i].value, b->parameters[i].value) != 0)
			return false;
	return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char again[4 * WEB_URL_BYTES_MAX];
	static struct web_url url, other;
	struct question_values query;
	struct err err;
	size_t bytes;

	if (size > WEB_URL_BYTES_MAX + 1 ||
	    web_url_parse(&url,
		(struct text){ (const char *)data, (uint32_t)size }, &err) != 0)
		return 0;
	for (uint32_t i = 0; i < url.segment_count; i++)
		check_text(url.segments[i]);
	for (uint32_t i = 0; i < url.parameter_count; i++) {
		check_text(url.parameters[i].name);
		check_text(url.parameters[i].value);
	}
	bytes = encode(again, &url);
	if (bytes <= WEB_URL_BYTES_MAX &&
	    (web_url_parse(
		 &other, (struct text){ again, (uint32_t)bytes }, &err) != 0 ||
		!is_same(&url, &other)))
		abort();
	for (const struct web_route *r = web_pool_routes; r->word != NULL; r++)
		if (web_query_parse(
			&query, &url, web_route_parameters(r), &err) != 0 &&
		    err.text[0] == '\0')
			abort();
	if (url.segment_count > 0)
		(void)web_route_find(web_pool_routes, url.segments[0], &err);
	return 0;
}
