/*
 * fold - opening the tables, and closing them.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/writer_private.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "proto/os/log.h"

#define FACT_HASH "hash"

/* The key of the store's hashes, made with it. */
static struct hash_key
store_hash_key(struct db_txn *txn)
{
	struct hash_key key;
	struct text value;

	if (db_get(txn, TABLES_META, text_of(FACT_HASH), &value) &&
	    value.bytes == sizeof(key)) {
		memcpy(&key, value.at, sizeof(key));
		return key;
	}
	key = hash_key_random();
	db_put(txn, TABLES_META, text_of(FACT_HASH),
	    (struct text){ (const char *)&key, sizeof(key) });
	return key;
}

/* Phases of other models than these are in the tables: say so.  What is
 * folded from now on follows the new ones. */
static void
adopt_models(struct fold *fold, struct db_txn *txn)
{
	uint64_t was = tables_fact(txn, FACT_MODELS);

	if (was == model_set_hash(&fold->models))
		return;
	if (was != 0 && atomic_load(&fold->position) > 0)
		log_warn("fold: the models have changed: phases of what is "
			 "stored already follow the old ones until "
			 "poolscope-aggregator --rebuild");
	tables_put_models(txn, &fold->models);
}

static int
prepare(struct fold *fold, struct err *err)
{
	struct db_txn *txn;
	struct hash_key key;

	if (db_begin(fold->db, true, &txn, err) != 0)
		return -1;
	key = store_hash_key(txn);
	atomic_store(&fold->position, tables_fact(txn, FACT_FOLDED));
	fold->status.position = atomic_load(&fold->position);
	fold->moved = tables_fact(txn, FACT_MOVED);
	fold->rebuild = tables_fact(txn, FACT_REBUILD);
	if (fold->options.models == NULL)
		tables_get_models(txn, &fold->models);
	else
		adopt_models(fold, txn);
	gather_init(&fold->gather, fold->names, &fold->models, key);
	fold->status.unsealed = seal_skip_open(fold, txn);
	if (db_commit(&txn, err) != DB_OK)
		return -1;
	if (poison_convicts(&fold->seal_poison, fold->seal_poison.first))
		poison_leave(&fold->seal_poison, fold->seal_poison.first);
	return 0;
}

static int
open_parts(struct fold *fold, struct err *err)
{
	struct db_options options = { .map_bytes = fold->options.map_bytes,
		.allow_network = fold->options.allow_network };

	if (fold->options.models != NULL &&
	    model_load(&fold->models, fold->options.models, err) != 0)
		return -1;
	if (tables_open(&fold->db, fold->path, &options, err) != 0 ||
	    journal_walk_open(fold->journal, &fold->walk, err) != 0 ||
	    poison_open(&fold->poison, fold->path, POISON_FOLD, err) != 0 ||
	    poison_open(&fold->seal_poison, fold->path, POISON_SEAL, err) != 0)
		return -1;
	return prepare(fold, err);
}

int
fold_open(struct fold **out, const char *store, struct journal *journal,
    const struct fold_options *options, struct err *err)
{
	struct fold *fold = calloc(1, sizeof(*fold));
	pthread_condattr_t attributes;

	*out = NULL;
	if (fold == NULL || (fold->path = strdup(store)) == NULL)
		abort();
	fold->journal = journal;
	fold->options = *options;
	fold->poison.fd = fold->seal_poison.fd = -1;
	fold->retain.sealed = INT32_MAX;
	for (unsigned i = 0; i < RETAIN_CUTS; i++)
		fold->retain.cuts.before[i] = fold->retain.done.before[i] =
		    INT32_MIN;
	fold->names = names_new(NAMES_MAX);
	store_init(&fold->store);
	pthread_mutex_init(&fold->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&fold->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	if (open_parts(fold, err) != 0) {
		fold_close(&fold);
		return -1;
	}
	*out = fold;
	return 0;
}

void
fold_close(struct fold **fold)
{
	struct fold *old = *fold;

	if (old == NULL)
		return;
	fold_stop(old);
	journal_walk_close(&old->walk);
	db_close(&old->db);
	poison_close(&old->poison);
	poison_close(&old->seal_poison);
	gather_clear(&old->gather);
	store_clear(&old->store);
	seal_clear(&old->seal);
	names_free(&old->names);
	model_set_clear(&old->models);
	pthread_cond_destroy(&old->changed);
	pthread_mutex_destroy(&old->lock);
	free(old->path);
	free(old);
	*fold = NULL;
}
