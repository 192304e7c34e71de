/*
 * runs - delete test runs whose events are all too old, and remove
 * their contributions from the statistics of their groups.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/retention/retention_private.h"

#include "aggregator/tables/dictionary.h"

/* A run that has an entity and no events stays. */
static bool
is_old(const struct run_row *row, int64_t cut_ns)
{
	return row->count > 0 && row->at[row->count - 1].id.time_ns < cut_ns;
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

bool
retention_runs(struct retention *retention, struct db_txn *txn)
{
	int64_t cut_ns = retention->cuts.before[RETENTION_ALL] * KEY_HOUR_NS;
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_RUNS);
	struct walk walk = { .retention = retention, .txn = txn };
	struct run_row *row = retention->indexer_write->run;
	unsigned char bytes[RUN_ROW_KEY_BYTES];
	char id[NAME_BYTES_MAX];
	struct run_row_key run = retention->run;
	struct text key, value;
	uint32_t rows = 0;
	bool more;

	run_row_put_key(bytes, &run);
	more = db_seek(cursor,
	    (struct text){ (const char *)bytes, sizeof(bytes) }, &key, &value);
	for (; more && rows < RETENTION_ROWS;
	     rows++, more = db_next(cursor, &key, &value)) {
		if (!run_row_get_key(key, &run))
			continue;
		/* Read it before any write, which may move the page. */
		if (!run_row_decode(row, value) || !is_old(row, cut_ns) ||
		    row->id.bytes > sizeof(id))
			continue;
		memcpy(id, row->id.at, row->id.bytes);
		enter(&walk, &run);
		if (walk.has_form)
			run_sum(&retention->indexer_write->changes, &walk.form,
			    row, run.run, true);
		db_cursor_del(cursor);
		if (row->known && walk.kind != 0)
			remove_entity(
			    &walk, (struct text){ id, row->id.bytes });
	}
	if (more && run_row_get_key(key, &run))
		retention->run = run;
	db_cursor_close(&cursor);
	leave(&walk);
	if (!more)
		retention->run = (struct run_row_key){ 0, 0, 0 };
	return !more;
}
