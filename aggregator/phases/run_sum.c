/*
 * run_sum - what test runs contribute to the statistics of their groups.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/phases/run_sum.h"

#include "aggregator/tables/dictionary.h"
#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
run_sum_put_key(unsigned char key[static RUN_SUM_KEY_BYTES],
    const struct run_sum_key *group)
{
	varint_put_u32_be(key, group->partition);
	varint_put_u32_be(key + 4, group->model);
	varint_put_u32_be(key + 8, group->group);
	key[12] = group->part;
	varint_put_u32_be(key + 13, group->number);
	key[17] = group->which;
}

bool
run_sum_get_key(struct text key, struct run_sum_key *group)
{
	if (key.bytes != RUN_SUM_KEY_BYTES)
		return false;
	group->partition = varint_get_u32_be(key.at);
	group->model = varint_get_u32_be(key.at + 4);
	group->group = varint_get_u32_be(key.at + 8);
	group->part = (uint8_t)key.at[12];
	group->number = varint_get_u32_be(key.at + 13);
	group->which = (uint8_t)key.at[17];
	return true;
}

unsigned
run_sum_numbers(const struct run_sum_key *key)
{
	if (key->part == RUN_SUM_PART_STEP)
		return key->which == RUN_SUM_OPEN ? 2 : 0;
	return key->part == RUN_SUM_PART_COUNTS ? RUN_SUM_COUNTS : 1;
}

void
run_sum_get_counts(struct text value, unsigned count, uint64_t *counts)
{
	struct varint_reader u = varint_reader_of(value);

	for (unsigned i = 0; i < count; i++)
		counts[i] = varint_get(&u);
}

/* ---- the contributions of a run ---- */

void
run_sum_changes_add(
    struct run_sum_changes *changes, const struct run_sum_change *change)
{
	*MEMORY_ADD(changes->at, changes->room, changes->count) = *change;
}

/* Sums of durations saturate at the limits of int64. */
static int64_t
total_of(const int64_t *duration, uint32_t count)
{
	__int128 sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += duration[i];
	return sum > INT64_MAX   ? INT64_MAX
	       : sum < INT64_MIN ? INT64_MIN
				 : (int64_t)sum;
}

/* The begins (value 0) or ends (1) without a partner. */
static void
add_open(struct run_sum_changes *changes, const struct run_events *events,
    struct run_step step, uint32_t pairs, struct run_sum_change change)
{
	uint32_t open[2] = { 0, 0 };

	for (uint32_t i = 0; i < events->count; i++) {
		open[0] += events->at[i].role == step.begin;
		open[1] += events->at[i].role == step.end;
	}
	change.which = RUN_SUM_OPEN;
	for (change.value = 0; change.value < 2; change.value++)
		for (uint32_t i = pairs; i < open[change.value]; i++)
			run_sum_changes_add(changes, &change);
}

static void
add_steps(struct run_sum_changes *changes, const struct run_sum_form *form,
    const struct run_events *events, struct run_sum_change change)
{
	int64_t duration[RUN_EVENTS_MAX / 2];

	change.part = RUN_SUM_PART_STEP;
	for (unsigned step = 0; step < form->model->steps; step++) {
		struct run_step of = form->model->step[step].of;

		change.number = form->phase[step];
		for (unsigned clock = 0; clock < RUN_CLOCKS; clock++) {
			uint32_t count = run_events_durations(
			    events, of, (enum run_clock)clock, duration);

			if (clock == 0)
				add_open(changes, events, of, count, change);
			change.which = (uint8_t)(clock * RUN_SUM_SORTS +
						 RUN_SUM_ITERATION);
			for (uint32_t i = 0; i < count; i++) {
				change.value = duration[i];
				run_sum_changes_add(changes, &change);
			}
			if (count == 0)
				continue;
			change.which =
			    (uint8_t)(clock * RUN_SUM_SORTS + RUN_SUM_TOTAL);
			change.value = total_of(duration, count);
			run_sum_changes_add(changes, &change);
		}
	}
}

void
run_sum(struct run_sum_changes *changes, const struct run_sum_form *form,
    const struct run_row *row, uint32_t run, bool removed)
{
	struct run_sum_change change = {
		.group = row->known ? row->group : RUN_SUM_GROUP_UNKNOWN,
		.removed = removed,
	};
	struct run_events events;
	enum run_state state;

	run_row_events(row, &form->roles, &events);
	state = run_state(&events, form->model->begun, form->model->ended);
	change.part = RUN_SUM_PART_COUNTS;
	change.value = RUN_SUM_COUNT_RUNS;
	run_sum_changes_add(changes, &change);
	change.value = row->error ? RUN_SUM_COUNT_ERRORS
				  : RUN_SUM_COUNT_STATE + (int64_t)state;
	run_sum_changes_add(changes, &change);
	change.value = 0;
	if (row->known) {
		change.part = RUN_SUM_PART_REQUESTOR;
		change.number = row->requestor;
		if (row->requestor != 0)
			run_sum_changes_add(changes, &change);
	}
	if (!row->known || (state != RUN_FINISHED && !row->error)) {
		change.part = RUN_SUM_PART_LIST;
		change.number = run;
		change.which = (uint8_t)state;
		run_sum_changes_add(changes, &change);
		change.which = 0;
	}
	add_steps(changes, form, &events, change);
}

void
run_sum_step(struct duration_stats *stats, const struct run_sum_form *form,
    const struct run_row *row, uint32_t phase, uint8_t which)
{
	int64_t duration[RUN_EVENTS_MAX / 2];
	struct run_events events;
	unsigned step = 0;
	uint32_t count;

	while (step < form->model->steps && form->phase[step] != phase)
		step++;
	if (step == form->model->steps)
		return;
	run_row_events(row, &form->roles, &events);
	count = run_events_durations(&events, form->model->step[step].of,
	    (enum run_clock)(which / RUN_SUM_SORTS), duration);
	if (which % RUN_SUM_SORTS == RUN_SUM_TOTAL) {
		if (count > 0)
			duration_stats_add(stats, total_of(duration, count));
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		duration_stats_add(stats, duration[i]);
}

void
run_sum_changes_clear(struct run_sum_changes *changes)
{
	free(changes->at);
	*changes = (struct run_sum_changes){ NULL, 0, 0 };
}

static uint32_t
number_of(struct dictionary *dictionary, struct db_txn *txn, uint32_t partition,
    struct text text)
{
	if (dictionary == NULL)
		return dictionary_find(txn, partition, text);
	return dictionary_number_always(dictionary, txn, partition, text);
}

void
run_sum_groups(struct db_txn *txn, const struct run_sum_form *form,
    uint32_t phase, struct duration_stats *stats)
{
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_GROUPS);
	struct run_sum_key at = { .partition = form->partition,
		.model = form->number };
	unsigned char bytes[RUN_SUM_KEY_BYTES];
	struct text seek = { (const char *)bytes, sizeof(bytes) }, key, value;

	for (;;) {
		struct run_sum_key row = at;
		uint64_t open[2] = { 0 };

		run_sum_put_key(bytes, &at);
		if (!db_seek(cursor, seek, &key, &value) ||
		    !run_sum_get_key(key, &row) ||
		    row.partition != at.partition || row.model != at.model)
			break;
		at.group = row.group;
		row = (struct run_sum_key){ at.partition, at.model, at.group,
			RUN_SUM_PART_STEP,
			RUN_EMIT * RUN_SUM_SORTS + RUN_SUM_ITERATION, phase };
		run_sum_put_key(bytes, &row);
		if (db_get(txn, TABLES_GROUPS, seek, &value)) {
			struct varint_reader u = varint_reader_of(value);

			duration_stats_decode(stats, &u);
		}
		row.which = RUN_SUM_OPEN;
		run_sum_put_key(bytes, &row);
		if (db_get(txn, TABLES_GROUPS, seek, &value))
			run_sum_get_counts(value, 2, open);
		stats->open_starts += open[0];
		stats->open_ends += open[1];
		if (at.group++ == RUN_SUM_GROUP_UNKNOWN)
			break;
	}
	db_cursor_close(&cursor);
}

void
run_sum_form_make(struct run_sum_form *form, struct dictionary *dictionary,
    struct db_txn *txn, uint32_t partition, const struct model_run *model)
{
	char id[NAME_BYTES_MAX + 2];

	form->model = model;
	form->partition = partition;
	/* The names of a model's phases begin with these bytes.  No other name
	 * of this length ends with a colon. */
	form->number = number_of(dictionary, txn, partition,
	    (struct text){ id, (uint32_t)snprintf(id, sizeof(id), "%.*s:",
				   (int)model->model.bytes, model->model.at) });
	form->roles.count = model->events;
	for (unsigned i = 0; i < model->events; i++)
		form->roles.number[i] =
		    number_of(dictionary, txn, partition, model->event[i]);
	for (unsigned i = 0; i < model->steps; i++)
		form->phase[i] =
		    number_of(dictionary, txn, partition, model->step[i].phase);
}
