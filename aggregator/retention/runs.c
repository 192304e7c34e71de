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
	walk->entities += db_del(walk->txn, TABLES_ENTITIES,
	    (struct text){ (const char *)key, 8 + id.bytes });
}

/* Delete the old events of the row under the cursor, or the row. */
static void
trim_row(struct walk *walk, struct db_cursor *cursor,
    const struct run_row_key *run, int64_t cut_ns)
{
	struct indexer_write *write = walk->retention->indexer_write;
	struct run_row *row = write->run;
	unsigned char key[RUN_ROW_KEY_BYTES];
	int64_t from_ns = run_row_time(row), to_ns;
	char id[NAME_BYTES_MAX];

	/* A copy: a write may move the page that holds it. */
	memcpy(id, row->id.at, row->id.bytes);
	row->id.at = id;
	enter(walk, run);
	if (walk->has_form)
		run_sum(&write->changes, &walk->form, row, run->run, true);
	run_row_trim(row, cut_ns);
	if (run_row_has_events(row)) {
		if (walk->has_form)
			run_sum(
			    &write->changes, &walk->form, row, run->run, false);
		write->value.bytes = 0;
		run_row_encode(row, &write->value);
		run_row_put_key(key, run);
		db_cursor_put(cursor,
		    (struct text){ (const char *)key, sizeof(key) },
		    buffer_text(&write->value));
		to_ns = run_row_time(row);
		indexer_write_run_time(write, walk->txn, run, &from_ns, &to_ns);
		return;
	}
	db_cursor_del(cursor);
	indexer_write_run_time(write, walk->txn, run, &from_ns, NULL);
	if (row->known && walk->kind != 0)
		remove_entity(walk, row->id);
}

bool
retention_runs(struct retention *retention, struct db_txn *txn)
{
	int64_t cut_ns = retention->cuts.before[RETENTION_ALL] * KEY_HOUR_NS;
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_RUNS);
	struct walk walk = { .retention = retention, .txn = txn };
	struct run_row *row = retention->indexer_write->run;
	unsigned char bytes[RUN_ROW_KEY_BYTES];
	struct run_row_key run = retention->run;
	struct text key, value;
	uint32_t rows = 0;
	bool more;

	run_row_put_key(bytes, &run);
	more = db_seek(cursor,
	    (struct text){ (const char *)bytes, sizeof(bytes) }, &key, &value);
	for (; more && rows < RETENTION_ROWS;
	     rows++, more = db_next(cursor, &key, &value)) {
		if (run_row_get_key(key, &run) && run_row_decode(row, value) &&
		    row->id.bytes <= NAME_BYTES_MAX && has_old(row, cut_ns))
			trim_row(&walk, cursor, &run, cut_ns);
	}
	if (more && run_row_get_key(key, &run))
		retention->run = run;
	db_cursor_close(&cursor);
	leave(&walk);
	if (!more)
		retention->run = (struct run_row_key){ 0, 0, 0 };
	return !more;
}
