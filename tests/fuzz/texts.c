/*
 * texts - any bytes as a text for those who would execute, draw or store it:
 * what is written has nothing in it that means something there, and whoever
 * reads it gets the text back.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

#include "exporters/cloud/azure_table.h"
#include "exporters/cloud/xml.h"
#include "exporters/plot/gnuplot.h"
#include "exporters/upload/targets/influx.h"
#include "proto/format/output.h"
#include "proto/http/http.h"
#include "proto/json/json.h"
#include "tests/fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BYTES_MAX = 1024, ROOM = 8 * BYTES_MAX };

/* What was written to a file of memory. */
static struct said {
	FILE *file;
	char *at;
	size_t bytes;
} said;

static FILE *
say(void)
{
	said.file = open_memstream(&said.at, &said.bytes);
	MUST(said.file != NULL);
	return said.file;
}

static struct text
what_was_said(void)
{
	MUST(fclose(said.file) == 0);
	return (struct text){ said.at, (uint32_t)said.bytes };
}

static bool
is_in(char c, const char *set)
{
	return c != '\0' && strchr(set, c) != NULL;
}

static unsigned
digits(const char *at, unsigned count, unsigned base)
{
	char text[4] = { 0 };
	char *end;
	unsigned long value;

	memcpy(text, at, count);
	value = strtoul(text, &end, (int)base);
	MUST(end == text + count && value < 256);
	return (unsigned)value;
}

/* ---- JSON: ASCII, escapes decoded here ---- */

/* A character that \\u says, of one or two units, as UTF-8. */
static size_t
decode_unit(const char **p, unsigned char *to)
{
	uint32_t c = digits(*p + 2, 2, 16) << 8 | digits(*p + 4, 2, 16), low;

	MUST((*p)[1] == 'u');
	*p += 6;
	MUST(c >> 10 != 0x37); /* the second of a pair */
	if (c >> 10 == 0x36) {
		MUST((*p)[0] == '\\' && (*p)[1] == 'u');
		low = digits(*p + 2, 2, 16) << 8 | digits(*p + 4, 2, 16);
		MUST(low >> 10 == 0x37);
		*p += 6;
		c = 0x10000 + ((c & 0x3FF) << 10 | (low & 0x3FF));
		to[0] = (unsigned char)(0xF0 | c >> 18);
		to[1] = (unsigned char)(0x80 | (c >> 12 & 0x3F));
		to[2] = (unsigned char)(0x80 | (c >> 6 & 0x3F));
		to[3] = (unsigned char)(0x80 | (c & 0x3F));
		return 4;
	}
	if (c < 0x80) {
		to[0] = (unsigned char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (unsigned char)(0xC0 | c >> 6);
		to[1] = (unsigned char)(0x80 | (c & 0x3F));
		return 2;
	}
	to[0] = (unsigned char)(0xE0 | c >> 12);
	to[1] = (unsigned char)(0x80 | (c >> 6 & 0x3F));
	to[2] = (unsigned char)(0x80 | (c & 0x3F));
	return 3;
}

static void
try_json(struct text t, unsigned style)
{
	static const char escapes[] = "\"\\/bfnrt", mean[] = "\"\\/\b\f\n\r\t";
	unsigned char back[3 * BYTES_MAX + 8];
	struct json json;
	const char *p, *end;
	size_t used = 0;

	json_init(&json, say(), style);
	json_text(&json, t);
	what_was_said();
	p = said.at + 1;
	end = said.at + said.bytes - 1;
	MUST(said.bytes >= 2 && p[-1] == '"' && *end == '"');
	while (p < end) {
		MUST(*p >= 0x20 && *p < 0x7F && *p != '"');
		if (*p != '\\') {
			back[used++] = (unsigned char)*p++;
		} else if (p[1] == 'u') {
			used += decode_unit(&p, back + used);
		} else {
			MUST(is_in(p[1], escapes));
			back[used++] = (unsigned char)
			    mean[strchr(escapes, p[1]) - escapes];
			p += 2;
		}
	}
	MUST(p == end);
	if (text_is_utf8(t))
		MUST(used == t.bytes &&
		     (used == 0 || memcmp(back, t.at, used) == 0));
	free(said.at);
}

/* ---- gnuplot: a string in double quotes that does nothing ---- */

/* The byte that a string says at *p. */
static char
said_byte(const char **p, const char *end, bool tic)
{
	char c;

	MUST(*p < end);
	if (**p == '\\') {
		MUST(end - *p >= 4);
		c = (char)digits(*p + 1, 3, 8);
		*p += 4;
		/* A fourth digit would belong to it. */
		MUST(*p == end || **p < '0' || **p > '7');
		return c;
	}
	c = *(*p)++;
	if (tic && c == '%') {
		MUST(*p < end && *(*p)++ == '%');
		return c;
	}
	MUST((unsigned char)c >= 0x20 && (unsigned char)c < 0x7F &&
	     (c == '_' || !is_in(c, "\"`\\$@^{}&~%<|!'#")));
	return c;
}

/* What can be drawn is there, the rest is a question mark each: no control
 * character, nothing that combines, no letter beyond those of Europe. */
static void
try_gnuplot(struct text t, bool tic)
{
	const char *p, *end;
	uint32_t c, bytes;

	(tic ? gnuplot_put_tic : gnuplot_put_text)(say(), t);
	what_was_said();
	p = said.at + 1;
	end = said.at + said.bytes - 1;
	MUST(said.bytes >= 2 && p[-1] == '"' && *end == '"');
	for (; t.bytes > 0; t.at += bytes, t.bytes -= bytes) {
		char first = said_byte(&p, end, tic);

		bytes = text_character(t, &c);
		if (bytes == 0 || c < 0x20 || c == 0x7F) {
			MUST(first == '?');
			bytes = bytes > 0 ? bytes : 1;
			continue;
		}
		if (first == '?' && t.at[0] != '?') {
			MUST(c >= 0x80);
			continue;
		}
		MUST(first == t.at[0]);
		for (uint32_t i = 1; i < bytes; i++)
			MUST(said_byte(&p, end, tic) == t.at[i]);
		MUST(c < 0x7F || (c >= 0xA1 && c < 0x300) ||
		     (c >= 0x370 && c < 0x483) || (c >= 0x2010 && c < 0x2027) ||
		     c == 0x20AC);
	}
	MUST(p == end);
	free(said.at);
}

/* ---- addresses and names of files ---- */

/* %XX and bytes that stand for themselves. */
static void
must_decode(const char *p, size_t bytes, struct text t)
{
	const char *end = p + bytes;

	for (uint32_t i = 0; i < t.bytes; i++) {
		MUST(p < end);
		if (*p == '%') {
			MUST(end - p >= 3 &&
			     digits(p + 1, 2, 16) == (unsigned char)t.at[i]);
			p += 3;
		} else {
			MUST(*p++ == t.at[i]);
		}
	}
	MUST(p == end);
}

static void
try_names(struct text t)
{
	char to[ROOM];
	size_t bytes = http_encode(to, sizeof(to), t, "/");

	must_decode(to, bytes, t);
	for (size_t i = 0; i < bytes; i++)
		MUST(
		    (unsigned char)to[i] < 0x80 && !is_in(to[i], " ?#&=+\"\\"));
	bytes = output_encode(to, sizeof(to), t, "");
	must_decode(to, bytes, t);
	MUST(bytes == 0 || !is_in(to[0], ".-"));
	for (size_t i = 0; i < bytes; i++)
		MUST((unsigned char)to[i] > ' ' &&
		     !is_in(to[i], "/\\*?[]{}()<>|&;$`'\"!~#"));
}

/* ---- markup, filters, lines ---- */

static void
try_xml(struct text t)
{
	static const char *const entities[] = { "&amp;", "&lt;", "&gt;",
		"&quot;", "&apos;" };
	static const char plain[] = "&<>\"'";
	char to[ROOM];
	const char *p = to, *end = to + xml_escape(to, sizeof(to), t);

	for (uint32_t i = 0; i < t.bytes; i++) {
		if (t.at[i] == '\0')
			continue; /* XML cannot say it */
		const char *at =
		    t.at[i] != '\0' ? strchr(plain, t.at[i]) : NULL;
		size_t bytes = at != NULL ? strlen(entities[at - plain]) : 1;

		MUST((size_t)(end - p) >= bytes);
		MUST(at != NULL ? memcmp(p, entities[at - plain], bytes) == 0
				: *p == t.at[i]);
		p += bytes;
	}
	MUST(p == end);
}

static void
try_filter(struct text t)
{
	char to[ROOM];
	const char *p = to, *end = to + table_quote(to, sizeof(to), t);

	for (uint32_t i = 0; i < t.bytes; i++) {
		MUST(p < end && *p == t.at[i]);
		if (*p++ == '\'')
			MUST(p < end && *p++ == '\'');
	}
	MUST(p == end);
}

/* Of names that a record may have. */
static void
try_line(struct text t, enum influx_part part)
{
	char to[2 * BYTES_MAX];
	const char *p = to, *end;

	if (text_check_name(t) != TEXT_OK)
		return;
	end = to + influx_escape(to, t, part);
	for (uint32_t i = 0; i < t.bytes; i++) {
		bool special = is_in(t.at[i], ", ") ||
			       (t.at[i] == '=' && part == INFLUX_KEY);

		MUST(p < end);
		if (special)
			MUST(*p++ == '\\');
		MUST(p < end &&
		     (*p == t.at[i] || (t.at[i] == '\\' && *p == '/') ||
			 (t.at[i] == '#' && i == 0 && *p == '_')));
		p++;
	}
	MUST(p == end);
}

static void
try_quote(struct text t)
{
	char to[64];

	text_quote(to, sizeof(to), t);
	MUST(memchr(to, '\0', sizeof(to)) != NULL && text_is_utf8(text_of(to)));
	for (const char *c = to; *c != '\0'; c++)
		MUST((unsigned char)*c >= 0x20 && *c != 0x7F && *c != '"' &&
		     *c != '\'');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text t = { (const char *)data, (uint32_t)size };

	if (size > BYTES_MAX)
		return 0;
	try_json(t, JSON_LINE);
	try_json(t, JSON_INDENTED | JSON_STRICT);
	try_gnuplot(t, false);
	try_gnuplot(t, true);
	try_names(t);
	try_xml(t);
	try_filter(t);
	try_line(t, INFLUX_MEASUREMENT);
	try_line(t, INFLUX_KEY);
	try_quote(t);
	return 0;
}
