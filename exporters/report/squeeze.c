/*
 * report_squeeze - lines of scripts and styles without blanks that mean
 * nothing.
 * SPDX-License-Identifier: MIT
 */
#include <string.h>

#include "exporters/report/squeeze.h"

/* Is a blank between these characters needed by nobody? */
static bool
is_idle(enum squeeze_language language, char before, char after)
{
	static const char script[] = "=,;:{}()[]?&|<>!";
	static const char style[] = "{};,";

	if (language == SQUEEZE_STYLE)
		return before == ':' || strchr(style, before) != NULL ||
		       strchr(style, after) != NULL;
	return strchr(script, before) != NULL || strchr(script, after) != NULL;
}

void
squeeze_line(
    struct buffer *to, enum squeeze_language language, struct text line)
{
	bool is_text = false;
	char before = ';';

	for (uint32_t i = 0; i < line.bytes; i++) {
		char c = line.at[i];

		if (!is_text && language == SQUEEZE_SCRIPT &&
		    line.bytes - i >= 2 && memcmp(line.at + i, "//", 2) == 0)
			break;
		/* A pattern, a comment: nobody knows what follows. */
		if (!is_text && (c == '/' || c == '\'' || c == '`')) {
			buffer_put(to, line.at + i, line.bytes - i);
			before = ')';
			break;
		}
		if (is_text && c == '\\' && i + 1 < line.bytes)
			buffer_put(to, line.at + i++, 1);
		else if (c == '"')
			is_text = !is_text;
		else if (!is_text && c == ' ' &&
			 (i + 1 == line.bytes ||
			     is_idle(language, before, line.at[i + 1])))
			continue;
		before = line.at[i];
		buffer_put(to, &before, 1);
	}
	if (is_text || strchr(";{,", before) == NULL)
		buffer_put(to, "\n", 1);
}
