/*
 * service_error - what a storage service says when it will not.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/http/service_error.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "exporters/cloud/http/message.h"
#include "exporters/cloud/http/xml.h"

static void
take_line(char *to, size_t room, struct text from)
{
	size_t bytes = 0;

	while (bytes < from.bytes && bytes + 1 < room &&
	       from.at[bytes] != '\n' && from.at[bytes] != '\0')
		bytes++;
	if (bytes > 0)
		memcpy(to, from.at, bytes);
	to[bytes] = '\0';
}

static int
on_element(void *arg, const char *path, struct text value, struct err *err)
{
	struct refusal *refusal = arg;

	(void)err;
	if (strcmp(path, "Error/Code") == 0)
		take_line(refusal->code, sizeof(refusal->code), value);
	else if (strcmp(path, "Error/Message") == 0)
		take_line(refusal->message, sizeof(refusal->message), value);
	return 0;
}

static void
read_json(struct refusal *refusal, struct text body)
{
	json_t *json = json_loadb(body.at, body.bytes, 0, NULL);
	const json_t *error = json_object_get(json, "odata.error");
	const char *code = json_string_value(json_object_get(error, "code"));
	const char *message = json_string_value(
	    json_object_get(json_object_get(error, "message"), "value"));

	take_line(refusal->code, sizeof(refusal->code), text_of(code));
	take_line(refusal->message, sizeof(refusal->message), text_of(message));
	json_decref(json);
}

void
refusal_read(struct refusal *refusal, struct text body)
{
	struct err ignored;

	*refusal = (struct refusal){ .code = "" };
	body = xml_trim(body);
	if (body.bytes > 0 && *body.at == '<')
		xml_read(body, on_element, refusal, &ignored);
	else if (body.bytes > 0 && *body.at == '{')
		read_json(refusal, body);
}

int
refusal_set(const struct http_request *request,
    const struct http_answer *answer, struct err *err)
{
	char place[HTTP_PLACE_BYTES], said[HTTP_SAID_BYTES];
	char text[sizeof(struct refusal) + 4];
	struct refusal refusal;

	refusal_read(&refusal, answer->body);
	if (refusal.code[0] != '\0' && refusal.message[0] != '\0')
		snprintf(text, sizeof(text), "%s: %s", refusal.code,
		    refusal.message);
	else
		snprintf(
		    text, sizeof(text), "%s%s", refusal.code, refusal.message);
	http_excerpt(
	    said, text[0] != '\0' ? text_of(text) : answer->body, request);
	return err_set(err, "%s answers %d%s%s",
	    http_place(place, request->url), answer->status,
	    said[0] != '\0' ? ", " : "", said);
}
