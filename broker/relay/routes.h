/*
 * routes - maps a partition to its aggregator.
 *
 * An ordered list of patterns (text_match); the first match wins.  Targets are
 * small numbers, one per endpoint, in order of first appearance.
 * SPDX-License-Identifier: MIT
 */
#ifndef BROKER_RELAY_ROUTES_H
#define BROKER_RELAY_ROUTES_H

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/config/partition_table.h"
#include "proto/net/zsock.h"

/* From the command line, from the partition table, and the default. */
enum {
	ROUTES_GIVEN_MAX = 64,
	ROUTES_MAX = ROUTES_GIVEN_MAX + PARTITION_TABLE_ROWS_MAX + 1,
	ROUTES_TARGETS_MAX = 15
};

struct routes {
	struct {
		struct text pattern;
		uint32_t target;
	} row[ROUTES_MAX];
	uint32_t count;
	char endpoint[ROUTES_TARGETS_MAX][ENDPOINT_BYTES_MAX];
	uint32_t targets;
};

/* Append `pattern` -> `endpoint`.  The pattern is a view that must live as
 * long as the table. */
int routes_add(struct routes *routes, struct text pattern, const char *endpoint,
    struct err *err);

/* Append "PATTERN=ENDPOINT". */
int routes_parse(struct routes *routes, const char *rule, struct err *err);

/* Append the rows of the table.  Their views must outlive the routes. */
int routes_add_table(struct routes *routes, const struct partition_table *table,
    struct err *err);

/* The target of `partition`, or -1. */
int routes_find(const struct routes *routes, struct text partition);

#endif
