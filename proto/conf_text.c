/*
 * conf_text - the text of a file for libconfuse, before that reads it.
 * SPDX-License-Identifier: MIT
 */
#include "proto/conf_text.h"

#include <stdbool.h>
#include <string.h>

static bool
may_begin_word(const char *text, const char *p)
{
	return p == text || strchr(" \t\r\n\f{}()=,+\"'", p[-1]) != NULL;
}

static char *
skip_string(char *p)
{
	char quote = *p;

	for (p++; *p != '\0' && *p != quote; p++)
		if (*p == '\\' && p[1] != '\0')
			p++;
	return *p ? p + 1 : p;
}

char *
conf_skip(const char *text, char *p)
{
	char *end;

	if (*p == '"' || *p == '\'')
		return skip_string(p);
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
conf_blank_comments(char *text)
{
	for (char *p = text; *p != '\0';) {
		bool string = *p == '"' || *p == '\'';
		char *end = conf_skip(text, p);

		if (end == p)
			end = p + 1;
		else if (!string)
			for (char *c = p; c < end; c++)
				*c = *c == '\n' ? '\n' : ' ';
		p = end;
	}
}
