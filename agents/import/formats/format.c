/*
 * import_format - the table of the formats that poolscope-import reads.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/formats/format.h"

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
