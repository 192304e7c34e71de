/*
 * samples_order - which rows of samples come first, and how many are shown.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/samples/statistics/samples_order.h"

#include <stdlib.h>

const char *const stats_samples_columns[] = { "metric", "node", "count", "min",
	"mean", "p50", "p99", "max", "last", NULL };

uint32_t
samples_order_section(const struct sample_rows *rows, uint32_t first)
{
	const struct sample_row *row = &rows->at[first];
	uint32_t end = first + 1;

	while (
	    end < rows->count && text_equal(rows->at[end].group, row->group) &&
	    (!rows->by_node || (text_equal(rows->at[end].metric, row->metric) &&
				   rows->at[end].counter == row->counter)))
		end++;
	return end;
}

static struct order_key
key_of(const void *arg, const void *at, int column)
{
	const struct sample_row *row = at;
	const struct text texts[] = { row->metric, row->node };
	const double numbers[] = { (double)row->count, row->low, row->mean,
		row->p50, row->p99, row->high, row->last };

	(void)arg;
	return column < 2 ? (struct order_key){ .is_text = true,
		.text = texts[column] }
			  : (struct order_key){ .number = numbers[column - 2] };
}

uint32_t
samples_order_apply(struct sample_rows *rows, const struct order *order)
{
	uint32_t kept = 0, removed;

	if (!order_is_given(order))
		return 0;
	for (uint32_t first = 0, end; first < rows->count; first = end) {
		uint32_t shown;

		end = samples_order_section(rows, first);
		shown = order_rows(order, &rows->at[first], end - first,
		    sizeof(*rows->at), key_of, NULL);
		for (uint32_t i = first; i < end; i++) {
			if (i - first < shown)
				rows->at[kept++] = rows->at[i];
			else
				free(rows->at[i].values);
		}
	}
	removed = rows->count - kept;
	rows->count = kept;
	return removed;
}
