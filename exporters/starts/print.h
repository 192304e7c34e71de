/*
 * starts_print - print the newest starts of a pool, a row each.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STARTS_PRINT_H
#define EXPORTERS_STARTS_PRINT_H

#include <stdio.h>

#include "exporters/select/order.h"
#include "exporters/starts/starts.h"
#include "exporters/stats/stats_format.h"

enum { STARTS_NEWEST = 20 };

/* The newest first, unless they are sorted.  `newest` 0: STARTS_NEWEST.  JSON
 * and CSV have seconds after the begin of the start. */
int starts_print(struct source *source, struct text partition,
    const struct starts_query *query, uint64_t newest,
    const struct order *order, enum stats_format format, FILE *file,
    struct err *err);

/* What they can be sorted by. */
extern const char *const starts_columns[];

#endif
