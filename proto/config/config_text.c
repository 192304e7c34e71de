/*
 * config_text - prepares the text of a file for libconfuse.
 * SPDX-License-Identifier: MIT
 */
#include "proto/config/config_text.h"

#include <stdbool.h>
#include <string.h>

static bool
may_begin_word(const char *text, const char *p)
{
	return p == text || strchr(" \t\r\n\f{}()=,+\"'", p[-1]) != NULL;
}

/* The closing quote, or the end of the text. */
static char *
end_of_string(char *p)
{
	char quote = *p;

	for (p++; *p != '\0' && *p != quote; p++)
		if (*p == '\\' && p[1] != '\0')
			p++;
	return p;
}

static bool
begins_string(const char *p)
{
	return *p == '"' || *p == '\'';
}

/* The end of the comment or quoted string that begins at `p` in `text`; `p`
 * itself when none begins there.  As in libconfuse, "#" begins a comment
 * anywhere, a slash only where a word could begin. */
static char *
skip(const char *text, char *p)
{
	char *end;

	if (begins_string(p)) {
		end = end_of_string(p);
		return end + (*end != '\0');
	}
	if (*p == '#')
		return p + strcspn(p, "\n");
	if (*p != '/' || !may_begin_word(text, p))
		return p;
	if (p[1] == '/')
		return p + strcspn(p, "\n");
	if (p[1] != '*')
		return p;
	end = strstr(p + 2, "*/");
	return end ? end + 2 : p + strlen(p);
}

void
config_blank_comments(char *text)
{
	for (char *p = text; *p != '\0';) {
		bool string = begins_string(p);
		char *end = skip(text, p);

		if (end == p)
			end = p + 1;
		else if (!string)
			for (char *c = p; c < end; c++)
				*c = *c == '\n' ? '\n' : ' ';
		p = end;
	}
}

/* Is there, at `p`, the name of a program other than `own`, followed by a
 * brace? */
static bool
is_foreign(const char *p, const char *const *programs, const char *own)
{
	size_t bytes = strspn(p, "abcdefghijklmnopqrstuvwxyz");
	const char *brace = p + bytes + strspn(p + bytes, " \t\r\n");

	for (const char *const *name = programs; *name != NULL; name++)
		if (strlen(*name) == bytes && memcmp(*name, p, bytes) == 0)
			return *brace == '{' && strcmp(*name, own) != 0;
	return false;
}

/* Overwrite the section at `p` with spaces; returns its end. */
static char *
blank_section(const char *text, char *p)
{
	int depth = 0;

	while (*p != '\0') {
		char *end = skip(text, p);
		bool closes = end == p && *p == '}';

		if (end == p) {
			depth += (*p == '{') - (*p == '}');
			end = p + 1;
		}
		for (; p < end; p++)
			if (*p != '\n')
				*p = ' ';
		if (closes && depth <= 0)
			break;
	}
	return p;
}

void
config_blank_foreign(char *text, const char *const *programs, const char *own)
{
	bool word = true; /* can a word begin here? */

	for (char *p = text; *p != '\0';) {
		char *end = skip(text, p);

		if (end == p && word && is_foreign(p, programs, own)) {
			p = blank_section(text, p);
			continue;
		}
		if (end == p)
			end = p + 1;
		word = strchr(" \t\r\n}", end[-1]) != NULL;
		p = end;
	}
}

const char *
config_unclosed(char *text, uint32_t *line)
{
	uint32_t here = 1, opened = 1;
	int depth = 0;

	for (char *p = text; *p != '\0';) {
		char *end = skip(text, p);

		*line = here;
		if (begins_string(p) && *end_of_string(p) == '\0')
			return "a quoted text is not closed";
		if (end == p) {
			opened = *p == '{' && depth == 0 ? here : opened;
			depth += (*p == '{') - (*p == '}');
			end = p + 1;
		}
		for (; p < end; p++)
			here += *p == '\n';
	}
	*line = opened;
	return depth > 0 ? "a section is not closed" : NULL;
}
