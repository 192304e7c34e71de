/*
 * import_lines - a file of which each line is a row.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_FORMATS_LINES_H
#define AGENTS_IMPORT_FORMATS_LINES_H

#include "agents/import/formats/format.h"

/* Open a file whose rows are what `parse` makes of its lines.  `parse` returns
 * -1 and sets `err` if a line is invalid. */
int import_lines_open(struct import_source *source, enum import_kind kind,
    int (*parse)(struct import_row *row, struct text line, struct err *err),
    const char *path, const struct import_format_options *options,
    struct err *err);

#endif
