/*
 * metric_columns - which value of a sample belongs to which metric.
 *
 * A sample may have fewer values than its group has columns: the last ones are
 * unknown.  Of a sample with more values nothing is known until the definition
 * has grown (proto/metric/definition.h).
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ROLLUP_METRIC_COLUMNS_H
#define AGGREGATOR_ROLLUP_METRIC_COLUMNS_H

#include "aggregator/db/db.h"
#include "proto/record/counter_rate.h"

struct metric_column {
	uint32_t index; /* of the value in a sample */
	bool counter;
	struct counter_rate_column rate; /* of a counter */
	struct text name;                /* view into the transaction */
};

/* The columns of one metric group. */
struct metric_columns {
	uint32_t
	    columns;   /* of a sample, at most; 0: the group is not defined */
	uint32_t boot; /* column of the boot number; UINT32_MAX: none */
	struct metric_column *wanted; /* in ascending order of index */
	uint32_t count, room;
};

/* Find the metrics of group `name` that match one of the patterns, which have
 * blanks between them (empty: all of them). No column is found when the group
 * is not defined. */
void metric_columns_find(struct metric_columns *columns, struct db_txn *txn,
    uint32_t partition, struct text name, struct text patterns);
void metric_columns_clear(struct metric_columns *columns);

/* The boot number in a value of a sample; 0: it has none. */
uint64_t metric_columns_boot(const struct value *value);

#endif
