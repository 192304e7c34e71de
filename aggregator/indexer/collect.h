/*
 * collect - what one transaction of the indexer takes in: records taken apart,
 * grouped into the rows that they will be, and events matched to phases.
 *
 * Everything is copied out of the journal, so its snapshot can be given back
 * before the rows are written.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INDEXER_COLLECT_H
#define AGGREGATOR_INDEXER_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/indexer/group.h"
#include "aggregator/journal/journal.h"
#include "aggregator/model/model.h"
#include "aggregator/phases/phase.h"
#include "aggregator/tables/dictionary.h"
#include "aggregator/tables/row_block.h"
#include "aggregator/tables/tables.h"
#include "proto/base/arena.h"
#include "proto/base/hash.h"

enum {
	COLLECT_RECORDS = 24 << 10, /* a transaction takes at most about that */
	COLLECT_RECORDS_MIN = 2 << 10, /* many, and at least as many as that */
	COLLECT_BYTES = 6 << 20,       /* or that much */
	COLLECT_PAGES = 3000,          /* of 4 KiB, changed by a transaction */
	COLLECT_KEY_BYTES = 255,       /* of what a pair is matched by */
};

/* A record.  Which partition, kind, hour, node and track: its group. */
struct collect_item {
	struct row_block_item head;
	uint32_t node;
};

/* An entity, in order of arrival. */
struct collect_entity {
	uint32_t item; /* body: attributes */
	uint32_t partition, kind;
	struct text id;
};

/* An event in the role of a start or an end. */
struct collect_role {
	struct phase_entry entry;
	struct text key;
	bool is_end;
};

/* An event of a run; or, with event 0, its entity changed. */
struct collect_run {
	struct row_block_item id; /* without a body */
	uint32_t event;           /* number of "source:name" */
	uint32_t node;
	struct text run; /* its id, in the arena */
};

/* What a partition gets. */
struct collect_partition {
	uint32_t partition;
	struct partition_counts more;
};

struct collect {
	/* set by the owner */
	struct dictionary *dictionary;
	const struct model_set *models;
	struct hash_key hash_key; /* of the store: phase keys */
	uint32_t limit;           /* records: collect_learn */
	uint64_t rejected_bytes;  /* quota of dead letters of a partition */

	struct arena arena;
	struct wire_room room;
	struct collect_item *item;
	uint32_t items, item_room;
	struct groups
	    row_blocks; /* of items: partition, kind, hour, node, track */
	struct collect_entity *entity;
	uint32_t entities, entity_room;
	struct collect_role *role;
	uint32_t roles, role_room;
	struct groups states; /* of roles: partition, phase, hash, scope */
	struct collect_run *run;
	uint32_t runs, run_room;
	struct groups of_runs; /* of run: partition, model (1 + place), run */
	struct collect_partition *partition;
	uint32_t partitions, partition_room;

	struct gather_roles_slot *cache; /* which event has which roles */
	uint64_t records, batches, dead, rejected_cut, no_run_id;
};

void collect_init(struct collect *collect, struct dictionary *dictionary,
    const struct model_set *models, struct hash_key hash_key);
void collect_clear(struct collect *collect);
/* Begin a new transaction. */
void collect_reset(struct collect *collect);
/* The transaction was aborted: numbers of names may be wrong. */
void collect_forget(struct collect *collect);

/* Take in one entry of the journal; `quarantined`: as a dead letter, unread. */
void collect_entry(struct collect *collect, struct db_txn *txn,
    const struct journal_entry *entry, bool quarantined);
/* The transaction changed some `pages` of the store, which are in memory until
 * its commit: fit the next one to what we may use. */
void collect_learn(struct collect *collect, uint64_t pages);
bool collect_is_full(const struct collect *collect);

struct collect_partition *collect_partition(
    struct collect *collect, uint32_t partition);

/* ---- events and phases (match.c) ---- */

/* An event as the matching wants it. */
struct match_event {
	uint32_t partition, node;
	uint32_t source, name; /* numbers, or 0 */
	struct text source_text, name_text;
	struct row_block_item id; /* body: the attributes, in the arena */
	struct text pairs;        /* attributes as MessagePack */
};
/* Append the roles that the event plays. */
void match_event(struct collect *collect, struct db_txn *txn,
    const struct match_event *event);
/* Append one that is known already; its number, for its group. */
uint32_t collect_add_role(
    struct collect *collect, const struct collect_role *role);
void match_forget(struct collect *collect);
void match_clear(struct collect *collect);

/* ---- runs (run_items.c) ---- */

/* Append an event, whose number is that of "source:name", to its run in the
 * models' run at `place`. */
void collect_run_event(struct collect *collect, struct db_txn *txn,
    const struct match_event *event, unsigned place, uint32_t number,
    struct text run);
/* An entity came that may describe a run. */
void collect_run_entity(struct collect *collect, struct db_txn *txn,
    uint32_t partition, struct text kind, struct text id);
/* Is an attribute of an event a property of its run? */
bool collect_run_property(const struct model_run *run, struct text key);
/* An event has properties of its run: an entity of `kind` comes of it. */
void collect_extend(struct collect *collect, struct db_txn *txn,
    const struct match_event *event, const struct model_run *run,
    struct text id);

/* The group of a state. */
struct key_phase match_key(const struct group *group);

#endif
