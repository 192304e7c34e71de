/*
 * service_error - parse error answers of storage services.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/common/service_error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/cloud/common/xml.h"
#include "proto/http/message.h"
#include "proto/json/json_find.h"

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
	struct service_error *service_error = arg;

	(void)err;
	if (strcmp(path, "Error/Code") == 0)
		take_line(
		    service_error->code, sizeof(service_error->code), value);
	else if (strcmp(path, "Error/Message") == 0)
		take_line(service_error->message,
		    sizeof(service_error->message), value);
	return 0;
}

static void
take_json(char *to, size_t room, struct text value)
{
	char *string = json_find_string(value);

	take_line(to, room, text_of(string));
	free(string);
}

static void
read_json(struct service_error *service_error, struct text body)
{
	struct text error = json_find(json_find_root(body), "odata.error");

	take_json(service_error->code, sizeof(service_error->code),
	    json_find(error, "code"));
	take_json(service_error->message, sizeof(service_error->message),
	    json_find(json_find(error, "message"), "value"));
}

void
service_error_read(struct service_error *service_error, struct text body)
{
	struct err ignored;

	*service_error = (struct service_error){ .code = "" };
	body = xml_trim(body);
	if (body.bytes > 0 && *body.at == '<')
		xml_read(body, on_element, service_error, &ignored);
	else if (body.bytes > 0 && *body.at == '{')
		read_json(service_error, body);
}

int
service_error_set(const struct http_request *request,
    const struct http_answer *answer, struct err *err)
{
	char shown[HTTP_DISPLAY_URL_BYTES], excerpt[HTTP_EXCERPT_BYTES];
	char text[sizeof(struct service_error) + 4];
	struct service_error service_error;

	service_error_read(&service_error, answer->body);
	if (service_error.code[0] != '\0' && service_error.message[0] != '\0')
		snprintf(text, sizeof(text), "%s: %s", service_error.code,
		    service_error.message);
	else
		snprintf(text, sizeof(text), "%s%s", service_error.code,
		    service_error.message);
	http_excerpt(
	    excerpt, text[0] != '\0' ? text_of(text) : answer->body, request);
	return err_set(err, "%s answers %d%s%s",
	    http_display_url(shown, request->url), answer->status,
	    excerpt[0] != '\0' ? ", " : "", excerpt);
}
