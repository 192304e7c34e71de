/*
 * routes - which aggregator keeps a partition.
 *
 * An ordered list of patterns (text_match); the first that matches wins.
 * Targets are small numbers, one an endpoint, in order of appearance.
 * SPDX-License-Identifier: MIT
 */
#ifndef BROKER_ROUTES_H
#define BROKER_ROUTES_H

#include <stdint.h>

#include "proto/err.h"
#include "proto/port.h"
#include "proto/text.h"

enum { ROUTES_MAX = 65, ROUTES_TARGETS_MAX = 15 };

struct routes {
	struct {
		struct text pattern;
		uint32_t target;
	} row[ROUTES_MAX];
	uint32_t count;
	char endpoint[ROUTES_TARGETS_MAX][PORT_ENDPOINT_BYTES_MAX];
	uint32_t targets;
};

/* Append `pattern` -> `endpoint`.  The pattern is a view that must live as
 * long as the table. */
int routes_add(struct routes *routes, struct text pattern, const char *endpoint,
    struct err *err);

/* Append "PATTERN=ENDPOINT". */
int routes_parse(struct routes *routes, const char *rule, struct err *err);

/* The target that keeps `partition`, or -1. */
int routes_find(const struct routes *routes, struct text partition);

#endif
