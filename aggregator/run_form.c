/*
 * run_sum - a model in a partition, as numbers.
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "aggregator/names.h"
#include "aggregator/run_sum.h"
#include "aggregator/tables.h"

static uint32_t
number_of(struct names *names, struct db_txn *txn, uint32_t partition,
    struct text text)
{
	if (names == NULL)
		return names_find(txn, partition, text);
	return names_number_always(names, txn, partition, text);
}

void
groups_sum(struct db_txn *txn, const struct run_form *form, uint32_t phase,
    struct stats *stats)
{
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_GROUPS);
	struct key_group at = { .partition = form->partition,
		.model = form->number };
	unsigned char bytes[KEY_GROUP_BYTES];
	struct text seek = { (const char *)bytes, sizeof(bytes) }, key, value;

	for (;;) {
		struct key_group row = at;
		uint64_t open[2] = { 0 };

		key_put_group(bytes, &at);
		if (!db_seek(cursor, seek, &key, &value) ||
		    !key_get_group(key, &row) ||
		    row.partition != at.partition || row.model != at.model)
			break;
		at.group = row.group;
		row = (struct key_group){ at.partition, at.model, at.group,
			RUN_PART_STEP, RUN_EMIT * RUN_SORTS + RUN_ITERATION,
			phase };
		key_put_group(bytes, &row);
		if (db_get(txn, TABLES_GROUPS, seek, &value)) {
			struct unpack u = unpack_of(value);

			stats_decode(stats, &u);
		}
		row.which = RUN_OPEN;
		key_put_group(bytes, &row);
		if (db_get(txn, TABLES_GROUPS, seek, &value))
			run_counts_get(value, 2, open);
		stats->open_starts += open[0];
		stats->open_ends += open[1];
		if (at.group++ == RUN_GROUP_UNKNOWN)
			break;
	}
	db_cursor_close(&cursor);
}

void
run_form_make(struct run_form *form, struct names *names, struct db_txn *txn,
    uint32_t partition, const struct model_run *model)
{
	char id[NAME_BYTES_MAX + 2];

	form->model = model;
	form->partition = partition;
	/* The phases of a model begin with these bytes: no other name is so
	 * long and ends with a colon. */
	form->number = number_of(names, txn, partition,
	    (struct text){ id, (uint32_t)snprintf(id, sizeof(id), "%.*s:",
				   (int)model->model.bytes, model->model.at) });
	form->roles.count = model->events;
	for (unsigned i = 0; i < model->events; i++)
		form->roles.number[i] =
		    number_of(names, txn, partition, model->event[i]);
	for (unsigned i = 0; i < model->steps; i++)
		form->phase[i] =
		    number_of(names, txn, partition, model->step[i].phase);
}
