/*
 * runs - delete the events of test runs that are too old, and remove them from
 * the statistics of their groups.  A run without any event left is deleted,
 * with the entity that describes it.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/retention/retention_private.h"

#include "aggregator/tables/dictionary.h"

static bool
has_old(const struct run_row *row, int64_t cut_ns)
{
	int64_t first_ns;

	return (run_row_first(row, &first_ns) && first_ns < cut_ns) ||
	       (row->overflow > 0 && row->overflow_ns < cut_ns);
}

static bool
find_form(struct retention *retention, struct db_txn *txn,
    const struct run_row_key *run, struct run_sum_form *form)
{
	for (unsigned i = 0; i < retention->models->runs; i++) {
		run_sum_form_make(form, NULL, txn, run->partition,
		    &retention->models->run[i]);
		if (form->number == run->model)
			return true;
	}
	return false;
}

/* The position of a walk over all runs. */
struct walk {
	struct retention *retention;
	struct db_txn *txn;
	struct run_sum_form form;
	bool has_form;
	struct run_row_key at; /* partition 0: not started */
	uint32_t kind; /* number of the kind of entities that describe runs */
	uint64_t entities; /* deleted so far */
};

static void
leave(struct walk *walk)
{
	struct partition_counts counts;
	uint64_t *left = &counts.records[RECORD_ENTITY];

	if (walk->has_form)
		indexer_write_run_changes(
		    walk->retention->indexer_write, walk->txn, &walk->form);
	if (walk->entities > 0) {
		tables_get_counts(walk->txn, walk->at.partition, &counts);
		*left -= walk->entities < *left ? walk->entities : *left;
		tables_put_counts(walk->txn, walk->at.partition, &counts);
	}
	walk->entities = 0;
}

static void
enter(struct walk *walk, const struct run_row_key *run)
{
	if (run->partition == walk->at.partition &&
	    run->model == walk->at.model)
		return;
	leave(walk);
	walk->has_form =
	    find_form(walk->retention, walk->txn, run, &walk->form);
	walk->at = *run;
	walk->kind = walk->has_form ? dictionary_find(walk->txn, run->partition,
					  walk->form.model->kind)
				    : 0;
}

/* Delete the entity of the run too. */
static void
remove_entity(struct walk *walk, struct text id)
{
	unsigned char key[8 + NAME_BYTES_MAX];

	varint_put_u32_be(key, walk->at.partition);
	varint_put_u32_be(key + 4, walk->kind);
	memcpy(key + 8, id.at, id.bytes);
	walk->entities += packed_del(walk->retention->indexer_write->packed,
	    walk->txn, tables_entities,
	    (struct text){ (const char *)key, 8 + id.bytes });
}

/* Delete the old events of a run, or the run. */
static void
trim_row(struct walk *walk, const struct run_row_key *run, int64_t cut_ns)
{
	struct indexer_write *write = walk->retention->indexer_write;
	struct run_row *row = write->run;
	unsigned char bytes[RUN_ROW_KEY_BYTES];
	struct text key = { (const char *)bytes, sizeof(bytes) };
	int64_t from_ns = run_row_time(row), to_ns;
	char id[NAME_BYTES_MAX];

	/* A copy: a write may move the page that holds it. */
	memcpy(id, row->id.at, row->id.bytes);
	row->id.at = id;
	run_row_put_key(bytes, run);
	enter(walk, run);
	/* The runs next to it are as old. */
	packed_unpack(write->packed, walk->txn, tables_runs, key);
	if (walk->has_form)
		run_sum(&write->changes, &walk->form, row, run->run, true);
	run_row_trim(row, cut_ns);
	if (run_row_has_events(row)) {
		if (walk->has_form)
			run_sum(
			    &write->changes, &walk->form, row, run->run, false);
		write->value.bytes = 0;
		run_row_encode(row, &write->value);
		packed_put(write->packed, walk->txn, tables_runs, key,
		    buffer_text(&write->value));
		to_ns = run_row_time(row);
		indexer_write_run_time(write, walk->txn, run, &from_ns, &to_ns);
		return;
	}
	packed_del(write->packed, walk->txn, tables_runs, key);
	indexer_write_run_time(write, walk->txn, run, &from_ns, NULL);
	if (row->known && walk->kind != 0)
		remove_entity(walk, row->id);
}

/* Move to the first run from `run` on. */
static bool
seek(struct packed_cursor *cursor, const struct run_row_key *run,
    struct text *key, struct text *value)
{
	unsigned char bytes[RUN_ROW_KEY_BYTES];

	run_row_put_key(bytes, run);
	return packed_seek(cursor,
	    (struct text){ (const char *)bytes, sizeof(bytes) }, key, value);
}

bool
retention_runs(struct retention *retention, struct db_txn *txn)
{
	int64_t cut_ns = retention->cuts.before[RETENTION_ALL] * KEY_HOUR_NS;
	struct packed_cursor *cursor = packed_cursor_open(txn, tables_runs);
	struct walk walk = { .retention = retention, .txn = txn };
	struct run_row *row = retention->indexer_write->run;
	struct run_row_key run = retention->run;
	struct text key, value;
	bool more = seek(cursor, &run, &key, &value);

	for (uint32_t rows = 0; more && rows < RETENTION_ROWS; rows++) {
		if (run_row_get_key(key, &run) && run_row_decode(row, value) &&
		    row->id.bytes <= NAME_BYTES_MAX && has_old(row, cut_ns)) {
			trim_row(&walk, &run, cut_ns);
			run.run++;
			more = run.run > 0 && seek(cursor, &run, &key, &value);
		} else {
			more = packed_next(cursor, &key, &value);
		}
	}
	if (more && run_row_get_key(key, &run))
		retention->run = run;
	packed_cursor_close(&cursor);
	leave(&walk);
	if (!more)
		retention->run = (struct run_row_key){ 0, 0, 0 };
	return !more;
}
