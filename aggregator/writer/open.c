/*
 * open - opening and closing the tables.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/writer_private.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "proto/base/memory.h"
#include "proto/os/log.h"

#define FACT_HASH "hash"

/* Read the secret of the store's hashes; create it with a new store.  With
 * another one, ends would not find the starts that are stored. */
static struct hash_key
store_hash_key(struct db_txn *txn)
{
	struct hash_key key;
	struct text value;

	if (db_need(txn, TABLES_META, text_of(FACT_HASH), &value) &&
	    value.bytes == sizeof(key)) {
		memcpy(&key, value.at, sizeof(key));
		return key;
	}
	key = hash_key_random();
	db_put(txn, TABLES_META, text_of(FACT_HASH),
	    (struct text){ (const char *)&key, sizeof(key) });
	return key;
}

/* Report that the phases in the tables come from other models.  New records
 * follow the current models. */
static void
adopt_models(struct writer *writer, struct db_txn *txn)
{
	uint64_t was = tables_fact(txn, FACT_MODELS);

	if (was == model_set_hash(&writer->models))
		return;
	if (was != 0 && atomic_load(&writer->position) > 0 &&
	    !writer->options.will_rebuild)
		log_warn("indexer: the models have changed; phases of stored "
			 "records follow the old models until a rebuild "
			 "(poolscope-admin rebuild)");
	tables_put_models(txn, &writer->models);
}

static int
prepare(struct writer *writer, struct err *err)
{
	struct db_txn *txn;
	struct hash_key key;

	if (db_begin(writer->db, true, &txn, err) != 0)
		return -1;
	key = store_hash_key(txn);
	atomic_store(&writer->position, tables_fact(txn, FACT_INDEXED));
	writer->status.position = atomic_load(&writer->position);
	if (writer->options.retire_after > 0)
		tables_put_fact(
		    txn, FACT_RETIRE_AFTER, writer->options.retire_after);
	writer->dropped = tables_fact(txn, FACT_DROPPED);
	writer->rebuild = tables_fact(txn, FACT_REBUILD);
	if (writer->options.models == NULL)
		tables_get_models(txn, &writer->models);
	else
		adopt_models(writer, txn);
	collect_init(
	    &writer->collect, writer->dictionary, &writer->models, key);
	writer->status.no_models =
	    writer->models.phases == 0 && writer->models.runs == 0;
	writer->status.uncompacted = compact_skip_open(writer, txn);
	if (writer_marks_open(writer, txn, err) != 0) {
		db_abort(&txn);
		return -1;
	}
	if (db_commit(&txn, err) != DB_OK)
		return -1;
	if (quarantine_gives_up(
		&writer->compact_quarantine, writer->compact_quarantine.first))
		quarantine_leave(&writer->compact_quarantine,
		    writer->compact_quarantine.first);
	return 0;
}

static int
open_parts(struct writer *writer, struct err *err)
{
	struct db_options options = { .map_bytes = writer->options.map_bytes,
		.allow_network = writer->options.allow_network };

	if (writer->options.models != NULL &&
	    model_load(&writer->models, writer->options.models, err) != 0)
		return -1;
	if (tables_open(&writer->db, writer->path, &options, err) != 0 ||
	    journal_walk_open(writer->journal, &writer->walk, err) != 0 ||
	    quarantine_open(&writer->quarantine, writer->path,
		QUARANTINE_INDEXER, err) != 0 ||
	    quarantine_open(&writer->compact_quarantine, writer->path,
		QUARANTINE_COMPACT, err) != 0)
		return -1;
	retention_init(&writer->retention, writer->db, &writer->indexer_write,
	    &writer->models);
	return prepare(writer, err);
}

int
writer_open(struct writer **out, const char *store, struct journal *journal,
    const struct writer_options *options, struct err *err)
{
	struct writer *writer = memory_zero(1, sizeof(*writer));
	pthread_condattr_t attributes;

	writer->step_most = UINT64_MAX;
	*out = NULL;
	writer->path = memory_string(store);
	writer->journal = journal;
	writer->options = *options;
	writer->quarantine.fd = writer->compact_quarantine.fd = -1;
	writer->dictionary = dictionary_new(DICTIONARY_MAX);
	indexer_write_init(&writer->indexer_write);
	pthread_mutex_init(&writer->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&writer->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	if (open_parts(writer, err) != 0) {
		writer_close(&writer);
		return -1;
	}
	*out = writer;
	return 0;
}

void
writer_close(struct writer **writer)
{
	struct writer *old = *writer;

	if (old == NULL)
		return;
	writer_stop(old);
	journal_walk_close(&old->walk);
	db_close(&old->db);
	quarantine_close(&old->quarantine);
	quarantine_close(&old->compact_quarantine);
	collect_clear(&old->collect);
	indexer_write_clear(&old->indexer_write);
	buffer_clear(&old->pack.pass.from);
	compact_clear(&old->compact);
	part_merge_clear(&old->merge);
	retention_clear(&old->retention);
	dictionary_free(&old->dictionary);
	model_set_clear(&old->models);
	pthread_cond_destroy(&old->changed);
	pthread_mutex_destroy(&old->lock);
	free(old->path);
	free(old);
	*writer = NULL;
}
