/*
 * cascade_report - a pool's start-up in words: JSON, table, CSV.
 *
 * JSON is the object that the older tool computes (node_order, nodes with
 * start and timing, sizes, totals of the complete nodes), and "incomplete":
 * by node the events that are missing, or that stand alone, with the image
 * behind them.  A number that is not known for that reason is null.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CASCADE_REPORT_H
#define EXPORTERS_CASCADE_REPORT_H

#include <stdio.h>

#include "exporters/cascade/cascade.h"

void cascade_report_json(const struct cascade *cascade, FILE *file);
void cascade_report_csv(const struct cascade *cascade, FILE *file);
void cascade_report_table(
    const struct cascade *cascade, FILE *file, struct text partition);

/* Does any node lack anything? */
bool cascade_has_missing(const struct cascade *cascade);

/* Why --strict refuses it: -1 and how many nodes lack something. */
int cascade_refuse(const struct cascade *cascade, struct err *err);

/* A line on standard error for each node that lacks something, and for sizes
 * that cannot be read. */
void cascade_warn_missing(const struct cascade *cascade);

/* What a node lacks, joined by blanks, cut where `to` ends. */
const char *cascade_missing_words(const struct cascade *cascade,
    const struct cascade_node *node, char *to, size_t room);

#endif
