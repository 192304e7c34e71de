/*
 * cascade_report - a pool's startup as JSON, table or CSV.
 *
 * JSON is the object of the older tool (node_order, nodes with start and
 * timing, sizes, totals of the complete nodes), with a member "incomplete":
 * for each node the events that are missing or unmatched, each followed by its
 * image.  A number that is unknown for that reason is null.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CASCADE_REPORT_H
#define EXPORTERS_CASCADE_REPORT_H

#include <stdio.h>

#include "exporters/cascade/cascade.h"
#include "exporters/select/order.h"

void cascade_report_json(const struct cascade *cascade, FILE *file);
void cascade_report_csv(const struct cascade *cascade, FILE *file);
void cascade_report_table(const struct cascade *cascade, FILE *file,
    struct text partition, const struct order *order);
/* What it can be sorted by. */
extern const char *const cascade_columns[];

/* Is any node incomplete? */
bool cascade_has_missing(const struct cascade *cascade);

/* The error of --strict: -1 and the number of incomplete nodes. */
int cascade_refuse(const struct cascade *cascade, struct err *err);

/* Log a warning for each incomplete node, and one for unreadable sizes. */
void cascade_warn_missing(const struct cascade *cascade);

/* The events that a node lacks, separated by blanks, cut at the size of
 * `to`. */
const char *cascade_missing_words(const struct cascade *cascade,
    const struct cascade_node *node, char *to, size_t room);

#endif
