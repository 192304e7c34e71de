/*
 * web_problem - an error as JSON.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/web/problem.h"

#include <stdio.h>
#include <string.h>

#include "proto/base/err.h"
#include "proto/json/json.h"

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
		{ 503, "Service Unavailable" },
	};

	for (size_t i = 0; i < sizeof(titles) / sizeof(*titles); i++)
		if (titles[i].status == status)
			return titles[i].title;
	return "Internal Server Error";
}

/* Parameters are called as the options, without their dashes. */
static void
drop_dashes(char *text)
{
	char *to = text;

	for (const char *from = text; *from != '\0'; from++) {
		bool begins = from == text || from[-1] == ' ' ||
			      from[-1] == '(' || from[-1] == '\'';

		if (begins && strncmp(from, "--", 2) == 0 && from[2] >= 'a' &&
		    from[2] <= 'z')
			from += 2;
		*to++ = *from;
	}
	*to = '\0';
}

struct web_body *
web_problem(unsigned status, const char *detail)
{
	struct json_memory memory;
	struct json *json = &memory.to;
	struct text text;
	char sentence[ERR_BYTES];

	snprintf(sentence, sizeof(sentence), "%s", detail);
	drop_dashes(sentence);
	json_memory_begin(&memory, JSON_INDENTED | JSON_STRICT);
	json_begin_object(json);
	json_name(json, "type");
	json_string(json, "about:blank");
	json_name(json, "title");
	json_string(json, title_of(status));
	json_name(json, "status");
	json_uint(json, status);
	json_name(json, "detail");
	json_string(json, sentence);
	json_end_object(json);
	text = json_memory_end(&memory);
	return web_body_new(memory.text, text.bytes);
}
