/*
 * dump_follow - records as they are received, until a signal says that it is
 * enough.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_DUMP_FOLLOW_H
#define EXPORTERS_DUMP_FOLLOW_H

#include "exporters/source/source.h"

/* To standard output.  `cursor`: the file of its position, behind what was
 * written; NULL: from now on. */
int dump_follow(struct source *source, struct text partition,
    const struct wire_query *query, const char *cursor, struct err *err);

#endif
