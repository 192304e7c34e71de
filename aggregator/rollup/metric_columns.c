/*
 * metric_columns - which value of a sample belongs to which metric.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rollup/metric_columns.h"

#include <stdlib.h>

#include "aggregator/rollup/bucket.h"
#include "aggregator/tables/group_definition.h"
#include "proto/base/memory.h"
#include "proto/base/text.h"

static void
add_column(struct metric_columns *columns, struct text group, struct text name,
    struct text unit, bool counter)
{
	*MEMORY_ADD(columns->wanted, columns->room, columns->count) =
	    (struct metric_column){ columns->columns, counter,
		    counter_rate_column_of(group, name, unit), name };
}

/* Names of metrics have no blanks. */
static bool
is_wanted(struct text patterns, struct text metric)
{
	bool all = patterns.bytes == 0;
	struct text pattern;

	while (!all && (pattern = text_next_word(&patterns)).bytes > 0)
		all = text_match(pattern, metric);
	return all;
}

void
metric_columns_find(struct metric_columns *columns, struct db_txn *txn,
    uint32_t partition, struct text name, struct text patterns)
{
	struct definition definition;
	struct text metric, unit, type;

	columns->columns = columns->count = 0;
	columns->boot = UINT32_MAX;
	if (!group_definition_find(txn, partition, name, &definition))
		return;
	for (; columns->columns < RECORD_VALUES_MAX &&
	       (metric = text_next_word(&definition.names)).bytes > 0;
	     columns->columns++) {
		unit = text_next_word(&definition.units);
		type = text_next_word(&definition.types);

		if (text_equal(metric, text_of(COUNTER_RATE_BOOT_COLUMN)))
			columns->boot = columns->columns;
		else if (metric.bytes <= NAME_BYTES_MAX &&
			 is_wanted(patterns, metric))
			add_column(columns, name, metric, unit,
			    text_equal(type, text_of("counter")));
	}
}

void
metric_columns_clear(struct metric_columns *columns)
{
	free(columns->wanted);
	*columns = (struct metric_columns){ .columns = 0 };
}

uint64_t
metric_columns_boot(const struct value *value)
{
	if (value->type == VALUE_UINT)
		return value->is.u;
	return value->type == VALUE_INT && value->is.i > 0
		   ? (uint64_t)value->is.i
		   : 0;
}
