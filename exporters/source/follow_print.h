/*
 * follow_print - print records as they are received, until a signal.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_FOLLOW_PRINT_H
#define EXPORTERS_SOURCE_FOLLOW_PRINT_H

#include "exporters/source/source.h"

/* Print lines of JSON to standard output until INT or TERM.  `cursor` is the
 * file that saves the position after the last printed record; NULL: start at
 * the end of the store. */
int follow_print(struct source *source, struct text partition,
    const struct wire_query *query, const char *cursor, struct err *err);

#endif
