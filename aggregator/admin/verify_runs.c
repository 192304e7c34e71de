/*
 * verify_runs - check the statistics of groups of test runs, and the index of
 * the runs by time.
 *
 * Rows of groups are checked in portions, so that their statistics fit in
 * memory; each portion reads all test runs of the model.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "aggregator/admin/verify_private.h"
#include "proto/base/memory.h"

enum { LOT_ROWS = 1 << 16, LOT_STEPS = 64 };

/* A row of the groups, and the sum of its test runs. */
struct entry {
	struct run_sum_key key;
	struct text value;
	uint64_t counts[RUN_SUM_COUNTS]; /* of a requestor: the first */
	struct duration_stats *stats;    /* of a step */
};

struct portion {
	struct check *check;
	struct run_sum_form form;
	struct entry *entry; /* sorted by key */
	uint32_t entries, steps;
	uint64_t listed;     /* rows of lists */
	uint64_t met;        /* changes for which there is a row, */
	uint64_t all, lists; /* all changes; those of lists are separate */
	bool walked;
	struct duration_stats *stats[LOT_STEPS];
};

static void
complain(
    struct portion *portion, const struct run_sum_key *key, const char *what)
{
	verify_report(portion->check,
	    "groups: group %u of model %u of partition %u, part %u, %u: %s",
	    key->group, key->model, key->partition, key->part, key->number,
	    what);
}

static int
compare(const struct run_sum_key *key, const struct run_sum_change *change)
{
#define BY(field)                                                              \
	if (key->field != change->field)                                       \
	return key->field < change->field ? -1 : 1
	BY(group);
	BY(part);
	BY(number);
	BY(which);
#undef BY
	return 0;
}

static struct entry *
entry_of(struct portion *portion, const struct run_sum_change *change)
{
	uint32_t low = 0, high = portion->entries;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = compare(&portion->entry[middle].key, change);

		if (order == 0)
			return &portion->entry[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* ---- add test runs to the rows of a portion ---- */

static void
take_run(struct portion *portion, uint32_t run)
{
	struct run_sum_changes *changes =
	    &portion->check->indexer_write.changes;

	changes->count = 0;
	run_sum(changes, &portion->form, portion->check->indexer_write.run, run,
	    false);
	for (uint32_t i = 0; i < changes->count; i++) {
		const struct run_sum_change *change = &changes->at[i];
		struct entry *entry = entry_of(portion, change);

		if (entry == NULL)
			continue;
		portion->met++;
		if (entry->stats != NULL)
			duration_stats_add(entry->stats, change->value);
		else
			entry->counts[change->value]++;
	}
}

/* For every test run of the model. */
static void
walk_runs(struct portion *portion)
{
	struct check *check = portion->check;
	struct packed_cursor *cursor =
	    packed_cursor_open(check->txn, tables_runs);
	struct run_row_key run = { portion->form.partition,
		portion->form.number, 0 };
	unsigned char bytes[RUN_ROW_KEY_BYTES];
	struct text key, value;
	bool more;

	portion->all = portion->lists = 0;
	portion->walked = true;
	run_row_put_key(bytes, &run);
	more = packed_seek(cursor,
	    (struct text){ (const char *)bytes, sizeof(bytes) }, &key, &value);
	for (; more && run_row_get_key(key, &run) &&
	       run.partition == portion->form.partition &&
	       run.model == portion->form.number;
	     more = packed_next(cursor, &key, &value)) {
		if (!run_row_decode(check->indexer_write.run, value)) {
			verify_report(check, "runs: malformed row");
			continue;
		}
		take_run(portion, run.run);
		for (uint32_t i = 0; i < check->indexer_write.changes.count;
		     i++) {
			bool list = check->indexer_write.changes.at[i].part ==
				    RUN_SUM_PART_LIST;

			portion->all += !list;
			portion->lists += list;
		}
	}
	packed_cursor_close(&cursor);
	check->indexer_write.changes.count = 0;
}

/* ---- compare rows with the sums ---- */

static bool
step_is_good(struct portion *portion, struct entry *entry)
{
	struct duration_stats *kept = portion->check->kept;
	struct varint_reader u = varint_reader_of(entry->value);

	duration_stats_reset(kept);
	duration_stats_decode(kept, &u);
	if (kept->loose) {
		kept->min = entry->stats->min;
		kept->max = entry->stats->max;
	}
	return !u.bad && u.at == u.end &&
	       duration_stats_equal(kept, entry->stats);
}

static bool
counts_are_good(const struct entry *entry, unsigned numbers)
{
	struct varint_reader u = varint_reader_of(entry->value);
	bool good = true;

	for (unsigned i = 0; i < numbers; i++)
		good = good && varint_get(&u) == entry->counts[i];
	return good && !u.bad && u.at == u.end;
}

static void
end_portion(struct portion *portion)
{
	if (portion->entries > 0 || !portion->walked)
		walk_runs(portion);
	for (uint32_t i = 0; i < portion->entries; i++) {
		struct entry *entry = &portion->entry[i];
		bool good;

		if (entry->stats != NULL)
			good = step_is_good(portion, entry);
		else
			good = counts_are_good(
			    entry, run_sum_numbers(&entry->key));
		if (!good)
			complain(portion, &entry->key,
			    "differs from the sum of its runs");
	}
	portion->entries = portion->steps = 0;
}

/* Does the run match its entry in the list? */
static void
check_listed(struct portion *portion, const struct run_sum_key *key)
{
	struct run_sum_changes *changes =
	    &portion->check->indexer_write.changes;
	struct run_row_key run = { key->partition, key->model, key->number };
	unsigned char bytes[RUN_ROW_KEY_BYTES];
	struct text value;
	bool good = false;

	run_row_put_key(bytes, &run);
	changes->count = 0;
	if (packed_get(portion->check->indexer_write.packed,
		portion->check->txn, tables_runs,
		(struct text){ (const char *)bytes, sizeof(bytes) }, &value) &&
	    run_row_decode(portion->check->indexer_write.run, value))
		run_sum(changes, &portion->form,
		    portion->check->indexer_write.run, key->number, false);
	for (uint32_t i = 0; i < changes->count; i++)
		good = good || compare(key, &changes->at[i]) == 0;
	changes->count = 0;
	if (!good)
		complain(
		    portion, key, "lists a run that does not exist or differs");
	portion->listed++;
}

static void
add_entry(
    struct portion *portion, const struct run_sum_key *key, struct text value)
{
	struct entry *entry = &portion->entry[portion->entries++];

	*entry = (struct entry){ .key = *key, .value = value };
	if (run_sum_numbers(key) > 0)
		return;
	entry->stats = portion->stats[portion->steps++];
	duration_stats_reset(entry->stats);
}

static void
check_model(struct portion *portion)
{
	struct db_cursor *cursor =
	    db_cursor_open(portion->check->txn, TABLES_GROUPS);
	struct run_sum_key key = { .partition = portion->form.partition,
		.model = portion->form.number };
	unsigned char bytes[RUN_SUM_KEY_BYTES];
	struct text at, value;
	bool more;

	portion->met = portion->listed = 0;
	portion->walked = false;
	run_sum_put_key(bytes, &key);
	more = db_seek(cursor,
	    (struct text){ (const char *)bytes, sizeof(bytes) }, &at, &value);
	for (; more && run_sum_get_key(at, &key) &&
	       key.partition == portion->form.partition &&
	       key.model == portion->form.number;
	     more = db_next(cursor, &at, &value)) {
		if (key.part == RUN_SUM_PART_LIST) {
			check_listed(portion, &key);
			continue;
		}
		if (portion->entries == LOT_ROWS || portion->steps == LOT_STEPS)
			end_portion(portion);
		add_entry(portion, &key, value);
	}
	db_cursor_close(&cursor);
	end_portion(portion);
	if (portion->met != portion->all || portion->listed != portion->lists)
		verify_report(portion->check,
		    "groups: runs of model %u of partition %u belong to rows "
		    "that do not exist",
		    portion->form.number, portion->form.partition);
}

/* ---- the index by time ---- */

static uint64_t
count_runs(struct check *check)
{
	struct packed_cursor *cursor =
	    packed_cursor_open(check->txn, tables_runs);
	struct text key, value, all = { NULL, 0 };
	bool more = packed_seek(cursor, all, &key, &value);
	uint64_t rows = 0;

	for (; more; more = packed_next(cursor, &key, &value))
		rows++;
	packed_cursor_close(&cursor);
	return rows;
}

/* No run is at two times, so each has its row when there are as many. */
static void
check_times(struct check *check)
{
	struct packed_cursor *cursor =
	    packed_cursor_open(check->txn, tables_run_times);
	struct text key, value, all = { NULL, 0 };
	bool more = packed_seek(cursor, all, &key, &value);
	struct run_row_time at = { .partition = 0 };
	uint64_t good = 0;

	for (; more; more = packed_next(cursor, &key, &value)) {
		if (run_row_get_time_key(key, &at) &&
		    run_row_find(check->indexer_write.run,
			check->indexer_write.packed, check->txn, &at))
			good++;
		else
			verify_report(check,
			    "run_times: run %u of model %u of partition %u "
			    "does not exist or has another time",
			    at.run, at.model, at.partition);
	}
	packed_cursor_close(&cursor);
	if (good != count_runs(check))
		verify_report(check, "run_times: some runs have no row");
}

void
verify_runs(struct check *check)
{
	struct model_set models = { .phase = NULL };
	uint32_t partitions = dictionary_last(check->txn, 0);
	struct portion *portion = memory_zero(1, sizeof(*portion));

	portion->entry = memory_zero(LOT_ROWS, sizeof(*portion->entry));
	for (unsigned i = 0; i < LOT_STEPS; i++) {
		portion->stats[i] = memory_alloc(sizeof(*portion->stats[i]));
		duration_stats_init(portion->stats[i]);
	}
	portion->check = check;
	check_times(check);
	/* Groups that are derived again are not right until then. */
	if (tables_fact(check->txn, FACT_REBUILD) == 0)
		tables_get_models(check->txn, &models);
	for (uint32_t p = 1; p <= partitions; p++) {
		for (unsigned i = 0; i < models.runs; i++) {
			run_sum_form_make(&portion->form, NULL, check->txn, p,
			    &models.run[i]);
			if (portion->form.number != 0)
				check_model(portion);
		}
	}
	for (unsigned i = 0; i < LOT_STEPS; i++)
		free(portion->stats[i]);
	free(portion->entry);
	free(portion);
	model_set_clear(&models);
}
