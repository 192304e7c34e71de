/*
 * cascade_missing - which nodes lack events, or have some without a partner.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CASCADE_MISSING_H
#define EXPORTERS_CASCADE_MISSING_H

#include "exporters/cascade/cascade.h"
#include "proto/base/err.h"

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
