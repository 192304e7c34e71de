/*
 * dump_follow - print records as they are received, until a signal arrives.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_DUMP_FOLLOW_H
#define EXPORTERS_DUMP_FOLLOW_H

#include "exporters/source/source.h"

/* Prints to standard output.  `cursor` is the file that saves the position
 * after the last printed record; NULL: start at the end of the store. */
int dump_follow(struct source *source, struct text partition,
    const struct wire_query *query, const char *cursor, struct err *err);

#endif
