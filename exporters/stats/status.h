/*
 * stats_status - the contents of the store and the state of the broker.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STATS_STATUS_H
#define EXPORTERS_STATS_STATUS_H

#include <stdbool.h>
#include <stdio.h>

#include "exporters/source/source.h"

/* Query the store or aggregator of the options and, when that is the one of
 * --dir, its broker too (for at most a second), and print the answers.  -1
 * when the first did not answer; the answer of the broker is printed even
 * then. */
int stats_status(const struct source_options *options, bool json, FILE *file,
    struct err *err);

#endif
