/*
 * import_format - the table of the formats that poolscope-import reads.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/formats/format.h"

#include <stdio.h>
#include <string.h>

const struct import_format *const import_formats[] = {
	&import_format_cascade,
	&import_format_emits,
	&import_format_perf,
	&import_format_records,
	&import_format_scanner,
	&import_format_testrun,
	&import_format_azure_table,
	NULL,
};

const struct import_format *
import_format_find(const char *word)
{
	for (size_t i = 0; import_formats[i] != NULL; i++)
		if (strcmp(import_formats[i]->word, word) == 0)
			return import_formats[i];
	return NULL;
}

/* Formats with the same operands share them. */
void
import_format_synopsis(char *to, size_t room)
{
	size_t used = 0;

	to[0] = '\0';
	for (size_t i = 0; import_formats[i] != NULL && used < room; i++) {
		const struct import_format *f = import_formats[i];
		const struct import_format *next = import_formats[i + 1];
		bool shared =
		    next != NULL && strcmp(next->operands, f->operands) == 0;

		used += (size_t)snprintf(to + used, room - used, "%s%s%s%s",
		    f->word, shared ? "|" : " ", shared ? "" : f->operands,
		    shared || next == NULL ? "" : " | ");
	}
}

void
import_format_list(char *to, size_t room)
{
	size_t used = 0;

	to[0] = '\0';
	for (size_t i = 0; import_formats[i] != NULL && used < room; i++) {
		bool last = import_formats[i + 1] == NULL;

		used += (size_t)snprintf(to + used, room - used, "%s\"%s\"",
		    i == 0 ? ""
		    : last ? " or "
			   : ", ",
		    import_formats[i]->word);
	}
}
