/*
 * xml - parse the XML answers of storage services, and their errors.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/xml.h"

#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/http/message.h"
#include "proto/json/json_find.h"

struct reading {
	XML_Parser parser;
	xml_element *on_element;
	void *arg;
	struct err *err;
	bool failed; /* `err` is set */
	uint32_t depth;
	char path[XML_PATH_BYTES];
	size_t path_bytes;
	char value[XML_VALUE_BYTES_MAX];
	uint32_t value_bytes;
};

static void
fail(struct reading *r, const char *why)
{
	if (!r->failed)
		err_set(r->err, "unexpected XML in the answer: %s", why);
	r->failed = true;
	XML_StopParser(r->parser, XML_FALSE);
}

static void
on_start(void *arg, const char *name, const char **attributes)
{
	struct reading *r = arg;
	int n =
	    snprintf(r->path + r->path_bytes, sizeof(r->path) - r->path_bytes,
		"%s%s", r->depth > 0 ? "/" : "", name);

	(void)attributes;
	if (n < 0 || (size_t)n >= sizeof(r->path) - r->path_bytes ||
	    ++r->depth > XML_DEPTH_MAX) {
		r->path[r->path_bytes] = '\0';
		fail(r, "elements nested too deep or with too long names");
		return;
	}
	r->path_bytes += (size_t)n;
	r->value_bytes = 0;
}

static void
on_end(void *arg, const char *name)
{
	struct reading *r = arg;
	size_t bytes = strlen(name);

	if (r->failed)
		return;
	if (r->on_element(r->arg, r->path,
		(struct text){ r->value, r->value_bytes }, r->err) != 0) {
		r->failed = true;
		XML_StopParser(r->parser, XML_FALSE);
		return;
	}
	r->depth--;
	r->path_bytes -= bytes + (r->depth > 0);
	r->path[r->path_bytes] = '\0';
	r->value_bytes = 0;
}

static void
on_text(void *arg, const char *at, int bytes)
{
	struct reading *r = arg;

	if (r->failed)
		return;
	if ((uint32_t)bytes > sizeof(r->value) - r->value_bytes) {
		fail(r, "a text longer than 4096 bytes");
		return;
	}
	memcpy(r->value + r->value_bytes, at, (size_t)bytes);
	r->value_bytes += (uint32_t)bytes;
}

static void
on_type(void *arg, const char *name, const char *system, const char *public,
    int has_subset)
{
	(void)name;
	(void)system;
	(void)public;
	(void)has_subset;
	fail(arg, "a document type");
}

/* Remove Azure's byte order mark, the blanks with which S3 keeps a connection
 * alive before it answers, and trailing blanks.  xml_read does this itself. */
static struct text
xml_trim(struct text body)
{
	if (body.bytes >= 3 && memcmp(body.at, "\xEF\xBB\xBF", 3) == 0) {
		body.at += 3;
		body.bytes -= 3;
	}
	return text_trim(body);
}

int
xml_read(struct text body, xml_element *on_element, void *arg, struct err *err)
{
	struct reading *r = memory_zero(1, sizeof(*r));
	enum XML_Status status;

	body = xml_trim(body);
	r->on_element = on_element;
	r->arg = arg;
	r->err = err;
	r->parser = memory_must(XML_ParserCreate("UTF-8"));
	XML_SetUserData(r->parser, r);
	XML_SetElementHandler(r->parser, on_start, on_end);
	XML_SetCharacterDataHandler(r->parser, on_text);
	XML_SetStartDoctypeDeclHandler(r->parser, on_type);
	status = XML_Parse(r->parser, body.bytes > 0 ? body.at : "",
	    (int)body.bytes, XML_TRUE);
	if (status != XML_STATUS_OK && !r->failed) {
		r->failed = true;
		err_set(err, "the answer is not XML: %s in line %lu",
		    XML_ErrorString(XML_GetErrorCode(r->parser)),
		    (unsigned long)XML_GetCurrentLineNumber(r->parser));
	}
	status = r->failed ? XML_STATUS_ERROR : XML_STATUS_OK;
	XML_ParserFree(r->parser);
	free(r);
	return status == XML_STATUS_OK ? 0 : -1;
}

size_t
xml_escape(char *to, size_t room, struct text text)
{
	size_t used = 0;

	for (uint32_t i = 0; i < text.bytes; i++) {
		const char *as = NULL;
		char plain[2] = { text.at[i], '\0' };

		switch (text.at[i]) {
		case '&': as = "&amp;"; break;
		case '<': as = "&lt;"; break;
		case '>': as = "&gt;"; break;
		case '"': as = "&quot;"; break;
		case '\'': as = "&apos;"; break;
		default: as = plain;
		}
		if (used + strlen(as) >= room)
			return 0;
		memcpy(to + used, as, strlen(as));
		used += strlen(as);
	}
	if (room > 0)
		to[used] = '\0';
	return used;
}

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
