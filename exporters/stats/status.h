/*
 * stats_status - what is in the store, and in the pipes before it.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_STATS_STATUS_H
#define EXPORTERS_STATS_STATUS_H

#include <stdbool.h>
#include <stdio.h>

#include "exporters/source/source.h"

/* Ask the store or aggregator of the options, and when that is the one of
 * --dir its broker too (for at most a second), and print.  -1 when the first
 * did not answer; what the broker said is printed all the same. */
int stats_status(const struct source_options *options, bool json, FILE *file,
    struct err *err);

#endif
