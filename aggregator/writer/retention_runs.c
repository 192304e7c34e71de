/*
 * retain - runs grow old: those of which every event is too old go, and what
 * they added to the statistics of their groups with them.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/writer_private.h"

#include "aggregator/tables/dictionary.h"

/* A run that nothing is known of but its entity stays with that. */
static bool
is_old(const struct run_row *row, int64_t cut_ns)
{
	return row->count > 0 && row->at[row->count - 1].id.time_ns < cut_ns;
}

static bool
find_form(struct writer *writer, struct db_txn *txn, const struct key_run *run,
    struct run_form *form)
{
	for (unsigned i = 0; i < writer->models.runs; i++) {
		run_form_make(
		    form, NULL, txn, run->partition, &writer->models.run[i]);
		if (form->number == run->model)
			return true;
	}
	return false;
}

/* Where a walk over all runs is. */
struct walk {
	struct writer *writer;
	struct db_txn *txn;
	struct run_form form;
	bool has_form;
	struct key_run at; /* partition 0: nowhere yet */
	uint32_t kind;     /* of entities that describe runs */
	uint64_t entities; /* that went */
};

static void
leave(struct walk *walk)
{
	struct partition_counts counts;
	uint64_t *left = &counts.records[RECORD_ENTITY];

	if (walk->has_form)
		indexer_write_run_changes(
		    &walk->writer->indexer_write, walk->txn, &walk->form);
	if (walk->entities > 0) {
		tables_get_counts(walk->txn, walk->at.partition, &counts);
		*left -= walk->entities < *left ? walk->entities : *left;
		tables_put_counts(walk->txn, walk->at.partition, &counts);
	}
	walk->entities = 0;
}

static void
enter(struct walk *walk, const struct key_run *run)
{
	if (run->partition == walk->at.partition &&
	    run->model == walk->at.model)
		return;
	leave(walk);
	walk->has_form = find_form(walk->writer, walk->txn, run, &walk->form);
	walk->at = *run;
	walk->kind = walk->has_form ? dictionary_find(walk->txn, run->partition,
					  walk->form.model->kind)
				    : 0;
}

/* What described the run goes with it. */
static void
remove_entity(struct walk *walk, struct text id)
{
	unsigned char key[8 + NAME_BYTES_MAX];

	put_u32_be(key, walk->at.partition);
	put_u32_be(key + 4, walk->kind);
	memcpy(key + 8, id.at, id.bytes);
	walk->entities += db_del(walk->txn, TABLES_ENTITIES,
	    (struct text){ (const char *)key, 8 + id.bytes });
}

bool
retention_runs(struct writer *writer, struct db_txn *txn)
{
	int64_t cut_ns =
	    writer->retention.cuts.before[RETENTION_ALL] * KEY_BUCKET_NS;
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_RUNS);
	struct walk walk = { .writer = writer, .txn = txn };
	struct run_row *row = writer->indexer_write.run;
	unsigned char bytes[KEY_RUN_BYTES];
	char id[NAME_BYTES_MAX];
	struct key_run run = writer->retention.run;
	struct text key, value;
	uint32_t rows = 0;
	bool more;

	key_put_run(bytes, &run);
	more = db_seek(cursor,
	    (struct text){ (const char *)bytes, sizeof(bytes) }, &key, &value);
	for (; more && rows < RETENTION_ROWS;
	     rows++, more = db_next(cursor, &key, &value)) {
		if (!key_get_run(key, &run))
			continue;
		/* Before anything is written, which may move it. */
		if (!run_row_decode(row, value) || !is_old(row, cut_ns) ||
		    row->id.bytes > sizeof(id))
			continue;
		memcpy(id, row->id.at, row->id.bytes);
		enter(&walk, &run);
		if (walk.has_form)
			run_sum(&writer->indexer_write.changes, &walk.form, row,
			    run.run, true);
		db_cursor_del(cursor);
		if (row->known && walk.kind != 0)
			remove_entity(
			    &walk, (struct text){ id, row->id.bytes });
	}
	if (more && key_get_run(key, &run))
		writer->retention.run = run;
	db_cursor_close(&cursor);
	leave(&walk);
	if (!more)
		writer->retention.run = (struct key_run){ 0, 0, 0 };
	return !more;
}
