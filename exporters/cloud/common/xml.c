/*
 * xml - parse XML answers, one element at a time.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/common/xml.h"

#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"

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

struct text
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
