/*
 * absent - hours whose records only the archive has: retention has deleted them
 * in the store of an aggregator.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_TABLES_ABSENT_H
#define AGGREGATOR_TABLES_ABSENT_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/record/record.h"

/* Which ones may a store lack?  Those that retention has deleted (of an
 * aggregator with an archive). */
enum absent_hours { ABSENT_NONE, ABSENT_DELETED };

struct absent_hour {
	uint32_t partition;
	uint8_t kind; /* enum record_kind */
	int32_t hour;
};

/* What a question needs: the hour, and it will need those up to `end`. */
struct absent_need {
	struct absent_hour first;
	int32_t end;   /* exclusive */
	uint32_t node; /* records of this one; 0: of all nodes */
};

#endif
