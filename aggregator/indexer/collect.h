/*
 * collect - what one transaction of the indexer writes: records decoded and
 * grouped by row block, and events matched to phases.
 *
 * All data is copied from the journal, so its snapshot can be released before
 * the rows are written.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_INDEXER_COLLECT_H
#define AGGREGATOR_INDEXER_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/indexer/group.h"
#include "aggregator/journal/journal.h"
#include "aggregator/model/model.h"
#include "aggregator/phases/part_list.h"
#include "aggregator/phases/phase.h"
#include "aggregator/tables/dictionary.h"
#include "aggregator/tables/latest.h"
#include "aggregator/tables/row_block.h"
#include "aggregator/tables/tables.h"
#include "proto/base/arena.h"
#include "proto/hash/hash.h"
#include "proto/hash/string_table.h"
#include "proto/metric/definition.h"

enum {
	/* Of a transaction: the records, at most and at least about this many;
	 * the bytes; the pages of 4 KiB that it may change. */
	COLLECT_RECORDS = 64 << 10,
	COLLECT_RECORDS_MIN = 2 << 10,
	COLLECT_BYTES = 24 << 20,
	COLLECT_PAGES = 8000,
	COLLECT_KEY_BYTES = 255, /* of a value that pairs are matched by */
	COLLECT_LOGGED_GROUPS = 64,
};

/* A record.  Its group gives the partition, kind, hour, node and track. */
struct collect_item {
	struct row_block_item record;
	uint32_t node;
};

/* An entity, in the order of arrival. */
struct collect_entity {
	uint32_t item; /* index of its item, whose body is the attributes */
	uint32_t partition, kind;
	struct text id;
	/* Merged in the order of receipt, not of arrival: of an import, or of
	 * an event. */
	bool by_receipt;
};

/* An event as the start or the end of a phase. */
struct collect_role {
	struct phase_entry entry;
	struct text key;
	bool fifo;
};

/* An event of a test run.  With event 0: the entity of the run changed. */
struct collect_run {
	struct row_block_item id; /* without a body */
	uint32_t event;           /* number of "source:name" */
	uint32_t node;
	bool other;      /* the model does not name it: only counted */
	struct text run; /* id of the run, in the arena */
};

/* A node was heard, or has stopped: `life` of struct latest. */
struct collect_life {
	uint32_t partition, node;
	struct latest_value life;
};

/* The phases without a model of a partition. */
struct collect_own_names {
	uint32_t partition, count;
	uint32_t number[OWN_PHASE_NAMES_MAX];
	bool is_full; /* a further one came; it was logged */
};

/* Counts to add to a partition. */
struct collect_partition {
	uint32_t partition;
	struct partition_counts more;
};

struct collect {
	/* set by the writer */
	struct dictionary *dictionary;
	const struct model_set *models;
	struct hash_key
	    hash_key;   /* secret of the store, for the keys of phases */
	uint32_t limit; /* records per transaction, see collect_learn */
	uint64_t rejected_bytes; /* limit of the bodies of rejected batches in a
				    partition */

	struct arena arena;
	struct wire_room room;
	struct collect_item *item;
	uint32_t items, item_room;
	/* Of items: partition, kind, hour, node, track. */
	struct groups row_blocks;
	struct collect_entity *entity;
	uint32_t entities, entity_room;
	struct collect_role *role;
	uint32_t roles, role_room;
	struct groups states; /* of roles: partition, phase, hash, scope */
	/* Of roles in phases without a model, which get their keys when the
	 * transaction is written: partition, phase, mark, 0, node. */
	struct groups own;
	struct collect_run *run;
	uint32_t runs, run_room;
	/* Of runs: partition, model (1 + its index), run. */
	struct groups of_runs;
	struct collect_life *life; /* in the order of arrival */
	uint32_t lives, life_room;
	struct collect_partition *partition;
	uint32_t partitions, partition_room;
	/* Definitions of metric groups that replace the stored ones. */
	struct string_table grown_names;
	struct definition *grown;
	uint32_t grown_room;
	/* Hashes of the groups whose refused definition was logged. */
	uint64_t logged_group[COLLECT_LOGGED_GROUPS];
	uint32_t logged;

	/* The roles of recently matched events. */
	struct match_roles_slot *cache;
	struct collect_own_names *own_name;
	uint32_t own_names, own_name_room;
	uint64_t records, batches, rejected, rejected_cut, no_run_id;
	uint64_t phase_names_over; /* events of phases without a model that are
				      beyond OWN_PHASE_NAMES_MAX */
	uint64_t repeated;         /* records that were kept before */
	uint64_t groups_refused;   /* definitions of metric groups */
	/* The last partition into which an import brought records of sessions
	 * that their senders had sent here, too; 0: none. */
	uint32_t doubtful;
};

void collect_init(struct collect *collect, struct dictionary *dictionary,
    const struct model_set *models, struct hash_key hash_key);
void collect_clear(struct collect *collect);
/* Begin a transaction. */
void collect_reset(struct collect *collect);
/* The transaction was aborted: forget the names that it added. */
void collect_forget(struct collect *collect);

/* Add a journal entry.  With `quarantined` it becomes a rejected batch without
 * being decoded. */
void collect_entry(struct collect *collect, struct db_txn *txn,
    const struct journal_entry *entry, bool quarantined);
/* The transaction changed `pages` pages, which stay in memory until its
 * commit: adapt the limit of the next one to the memory that we may use. */
void collect_learn(struct collect *collect, uint64_t pages);
bool collect_is_full(const struct collect *collect);

struct collect_partition *collect_partition(
    struct collect *collect, uint32_t partition);

/* ---- events and phases (match.c) ---- */

/* An event to be matched. */
struct match_event {
	uint32_t partition, node;
	uint32_t source, name; /* numbers; 0 beyond the limit */
	struct text source_text, name_text;
	struct row_block_item id; /* body: the attributes, in the arena */
	struct text pairs;        /* attributes as MessagePack */
};
/* Add the roles that the event has in the phases and runs of the models. */
void match_event(struct collect *collect, struct db_txn *txn,
    const struct match_event *event);
/* Add a known role; returns its number, for its group. */
uint32_t collect_add_role(
    struct collect *collect, const struct collect_role *role);
/* A copy of the value that pairs are matched by, as far as it is stored, and
 * its hash. */
struct text match_take_key(
    struct collect *collect, struct text key, uint64_t *hash);
void match_add_to_state(
    struct collect *collect, const struct key_phase *key, uint32_t role);
void match_forget(struct collect *collect);
void match_clear(struct collect *collect);

/* ---- definitions of metric groups (definitions.c) ---- */

/* May `record` be stored?  If it defines a metric group whose definition stays,
 * it loses its lists.  False: the definition is refused, counted and, the first
 * time, logged; `err` says why. */
bool collect_define(struct collect *collect, struct db_txn *txn,
    uint32_t partition, struct text sender, struct record *record,
    struct err *err);
/* The definition of a metric group as it is when all entities so far are
 * written; views, valid as long as both. */
struct definition collect_definition(struct collect *collect,
    struct db_txn *txn, uint32_t partition, struct text name);
/* Begin a transaction; also frees memory. */
void collect_reset_definitions(struct collect *collect);

/* ---- items (items.c) ---- */

/* Append a record; the pointer is valid until the next one is appended. */
struct collect_item *collect_new_item(struct collect *collect);
/* The item that was added last is this entity. */
void collect_add_entity(struct collect *collect, struct db_txn *txn,
    uint32_t partition, const struct record *record);

/* Add an event to its run.  `what` has the number of "source:name" and whether
 * the model names it; `place` is the index of the run in the models. */
void collect_run_event(struct collect *collect, struct db_txn *txn,
    const struct match_event *event, unsigned place, struct collect_run what);
/* Add an entity to the runs that its kind may describe. */
void collect_run_entity(struct collect *collect, struct db_txn *txn,
    uint32_t partition, struct text kind, struct text id);
/* Is an attribute of an event a property of its run? */
bool collect_run_property(const struct model_run *run, struct text key);
/* Add an entity of `kind` made from the attributes of an event that are
 * properties of its run. */
void collect_extend(struct collect *collect, struct db_txn *txn,
    const struct match_event *event, const struct model_run *run,
    struct text id);

/* The key of the state that a group of roles belongs to. */
struct key_phase match_key(const struct group *group);

#endif
