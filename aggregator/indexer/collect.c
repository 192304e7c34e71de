/*
 * collect - read journal entries into the items of a transaction.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/indexer/collect.h"

#include <stdlib.h>

#include "aggregator/indexer/once.h"
#include "aggregator/indexer/rejected_batch.h"
#include "aggregator/tables/stream_row.h"
#include "proto/base/memory.h"
#include "proto/os/log.h"
#include "proto/wire/wire.h"

#define BUCKET_FLIP UINT32_C(0x80000000)

/* What all records of a journal entry share. */
struct source {
	struct collect *collect;
	struct db_txn *txn;
	uint32_t partition, stream;
	uint32_t place; /* of the record in its batch */
	bool once;      /* it is of an import */
	/* Its nodes are heard by it; when it came. */
	bool is_heard;
	int64_t receive_ns;
	struct text sender; /* the node of the batch */
	/* Node of the record before, compared by address. */
	struct text node_text;
	bool is_host; /* it counted as one that only imports */
	uint32_t node;
};

void
collect_init(struct collect *collect, struct dictionary *dictionary,
    const struct model_set *models, struct hash_key hash_key)
{
	*collect = (struct collect){ .dictionary = dictionary,
		.models = models,
		.hash_key = hash_key,
		.limit = COLLECT_RECORDS / 4 };
}

void
collect_reset(struct collect *collect)
{
	arena_reset(&collect->arena);
	collect_reset_definitions(collect);
	groups_reset(&collect->row_blocks);
	groups_reset(&collect->states);
	groups_reset(&collect->own);
	groups_reset(&collect->of_runs);
	collect->items = collect->entities = collect->roles = collect->runs = 0;
	collect->partitions = collect->lives = 0;
	collect->records = collect->batches = collect->rejected = 0;
	collect->no_run_id = collect->rejected_cut = collect->repeated = 0;
	collect->groups_refused = collect->phase_names_over = 0;
}

void
collect_forget(struct collect *collect)
{
	dictionary_forget(collect->dictionary);
	match_forget(collect);
}

void
collect_clear(struct collect *collect)
{
	arena_clear(&collect->arena);
	wire_room_clear(&collect->room);
	groups_clear(&collect->row_blocks);
	groups_clear(&collect->states);
	groups_clear(&collect->own);
	groups_clear(&collect->of_runs);
	free(collect->item);
	free(collect->entity);
	free(collect->role);
	free(collect->run);
	free(collect->partition);
	free(collect->life);
	collect_reset_definitions(collect);
	free(collect->grown);
	match_clear(collect);
}

bool
collect_is_full(const struct collect *collect)
{
	return collect->items >= collect->limit ||
	       collect->arena.used >= COLLECT_BYTES;
}

void
collect_learn(struct collect *collect, uint64_t pages)
{
	uint64_t fits;

	if (pages == 0 || collect->items < COLLECT_RECORDS_MIN / 2)
		return; /* too few for an estimate */
	fits = (uint64_t)collect->items * COLLECT_PAGES / pages;
	if (fits > 2 * (uint64_t)collect->limit)
		fits = 2 * (uint64_t)collect->limit;
	if (fits > COLLECT_RECORDS)
		fits = COLLECT_RECORDS;
	if (fits < COLLECT_RECORDS_MIN)
		fits = COLLECT_RECORDS_MIN;
	collect->limit = (uint32_t)fits;
}

struct collect_partition *
collect_partition(struct collect *collect, uint32_t partition)
{
	uint32_t i = collect->partitions;

	while (i-- > 0) {
		if (collect->partition[i].partition == partition)
			return &collect->partition[i];
	}
	MEMORY_GROW(
	    collect->partition, collect->partition_room, collect->partitions);
	collect->partition[collect->partitions] =
	    (struct collect_partition){ partition,
		    { .first_ns = INT64_MAX, .last_ns = INT64_MIN } };
	return &collect->partition[collect->partitions++];
}

/* ---- one record ---- */

static void
add_life(struct source *source, uint32_t node, int64_t what)
{
	struct collect *collect = source->collect;

	*MEMORY_ADD(collect->life, collect->life_room, collect->lives) =
	    (struct collect_life){ source->partition, node,
		    { source->receive_ns, what } };
}

static uint32_t
node_of(struct source *source, const struct record *record)
{
	struct collect *collect = source->collect;
	bool fresh, is_host;

	is_host = !source->is_heard && record->kind != RECORD_SAMPLE &&
		  record->kind != RECORD_SPAN &&
		  text_equal(record->node, source->sender);
	/* Records in one context share the view of their node's name. */
	if (record->node.at == source->node_text.at &&
	    record->node.bytes == source->node_text.bytes &&
	    source->node != 0 && source->is_host == is_host)
		return source->node;
	source->node = dictionary_node(collect->dictionary, source->txn,
	    source->partition, record->node, is_host, &fresh);
	source->node_text = record->node;
	source->is_host = is_host;
	if (fresh)
		collect_partition(collect, source->partition)->more.nodes++;
	if (source->is_heard)
		add_life(source, source->node, LATEST_ALIVE);
	return source->node;
}

/* Add the item to the group of its row block. */
static void
add_to_row_block(struct source *source, const struct record *record)
{
	struct collect *collect = source->collect;
	uint32_t number = collect->items - 1, track = 0;
	uint32_t node = collect->item[number].node;
	bool by_track = key_is_by_track((uint8_t)record->kind);
	struct group *group;

	if (record->kind == RECORD_SAMPLE || record->kind == RECORD_SPAN)
		track = dictionary_number_or_other(collect->dictionary,
		    source->txn, source->partition, record->source);
	group = group_of(&collect->row_blocks,
	    (uint32_t[]){ source->partition, record->kind,
		(uint32_t)key_hour(record->time_ns) ^ BUCKET_FLIP,
		by_track ? track : node, by_track ? node : track });
	if (group->count > 0 && row_block_compare(&collect->item[number].record,
				    &collect->item[group->last].record) < 0)
		group->mixed = true;
	group_append(&collect->row_blocks, group, number);
}

static void
take_record(struct source *source, const struct record *record)
{
	struct collect *collect = source->collect;
	struct row_block_writer writer = { collect->dictionary, source->txn,
		source->partition };
	struct row_block_event event;
	unsigned char *body, *end;
	struct collect_item *item;

	body = arena_room(&collect->arena, row_block_body_bound(record));
	end = row_block_put_body(body, record, &writer, &event);
	arena_keep(&collect->arena, (size_t)(end - body));
	item = collect_new_item(collect);
	*item = (struct collect_item){
		.record = { record->time_ns, record->receive_ns, record->id.seq,
		    source->stream, record->id.index,
		    { (const char *)body, (uint32_t)(end - body) } },
		.node = node_of(source, record),
	};
	collect->records++;
	if (record->kind == RECORD_ENTITY) {
		collect_add_entity(
		    collect, source->txn, source->partition, record);
		/* The lists of a definition have grown already. */
		collect->entity[collect->entities - 1].by_receipt =
		    source->once && !text_equal(record->source, text_of("set"));
		return;
	}
	add_to_row_block(source, record);
	if (record->kind == RECORD_EVENT) {
		struct match_event match = {
			.partition = source->partition,
			.node = item->node,
			.source = event.source,
			.name = event.name,
			.source_text = record->source,
			.name_text = record->name,
			.id = item->record,
			.pairs = record->pairs,
		};

		match.id.body = (struct text){ (const char *)event.attributes,
			(uint32_t)(end - event.attributes) };
		match_event(collect, source->txn, &match);
	}
}

/* ---- one entry ---- */

/* `index` is that of the rejected record, or 0. */
static void
take_rejected(struct source *source, const struct journal_entry *entry,
    const char *reason, uint32_t index)
{
	struct collect *collect = source->collect;
	struct partition_counts counts, *more;
	char hash[REJECTED_BATCH_HASH_BYTES + 1];
	struct record record;
	uint64_t bytes;

	tables_get_counts(source->txn, source->partition, &counts);
	more = &collect_partition(collect, source->partition)->more;
	bytes = counts.rejected_bytes + more->rejected_bytes;
	record = rejected_batch_encode(entry, reason,
	    collect->rejected_bytes > bytes ? collect->rejected_bytes - bytes
					    : 0,
	    hash);
	record.id.index = index;
	more->rejected_bytes += record.value_bytes.bytes;
	if (record.value_bytes.bytes < record.count) {
		more->rejected_cut++;
		collect->rejected_cut++;
	}
	collect->rejected++;
	take_record(source, &record);
}

/* Take the place of a record under the session of its sender, which others have
 * named; if they have given it away, one that nobody knows beforehand.  False:
 * the record came before. */
static bool
take_place(struct source *source, const struct record *record)
{
	struct hash_key key = source->collect->hash_key;
	struct session_id other;
	uint64_t half;

	switch (
	    once_take(source->txn, source->partition, record, source->stream)) {
	case ONCE_NEW: return true;
	case ONCE_REPEATED: return false;
	default: break;
	}
	for (unsigned i = 0; i < 2; i++, key.k0++) {
		half = hash_bytes(key, record->id.session.bytes,
		    sizeof(record->id.session.bytes));
		memcpy(other.bytes + i * sizeof(half), &half, sizeof(half));
	}
	source->stream = dictionary_stream(source->collect->dictionary,
	    source->txn, source->partition, &other);
	return true;
}

static void
take_gap(struct source *source, const struct journal_entry *entry)
{
	const struct record record = journal_gap_record(entry);

	if (once_has_session(
		source->txn, source->partition, &entry->header.session) &&
	    !take_place(source, &record))
		source->collect->repeated++;
	else
		take_record(source, &record);
}

/* Keep a refused definition as a rejected batch that has nothing else. */
static void
take_refused(struct source *source, const struct journal_entry *entry,
    const struct record *record, const char *reason)
{
	struct arena *arena = &source->collect->arena;
	size_t room = (size_t)row_block_body_bound(record) + 2 * NAME_BYTES_MAX;
	struct journal_entry part = *entry;
	struct wire_writer w;

	wire_writer_init(&w, arena_room(arena, room), room);
	wire_put_context(&w, record->node);
	wire_put_record(&w, record);
	arena_keep(arena, w.bytes);
	part.body = (struct text){ (const char *)w.at, (uint32_t)w.bytes };
	take_rejected(source, &part, reason, source->place);
}

/* If the store has a session from its sender when an import first names it,
 * nobody knows which of its records those of the import are. */
static void
warn_doubtful(struct source *source, const struct journal_entry *entry)
{
	char partition[4 * NAME_BYTES_MAX];

	if (source->collect->doubtful == source->partition)
		return;
	source->collect->doubtful = source->partition;
	log_warn("indexer: an import into partition %s has records of sessions "
		 "that the store has from their senders: if the dump was made "
		 "from this partition, they are there twice "
		 "(poolscope-import(1), Records)",
	    text_quote(partition, sizeof(partition), entry->header.partition));
}

/* Give a record of an import the stream of the session that it names.  False:
 * it cannot have it.  Of a session that came from its sender before anybody
 * named it, nobody noted which identities its records have. */
static bool
take_named(struct source *source, const struct journal_entry *entry,
    const struct record *record)
{
	const struct session_id *session = &record->id.session;
	bool first = !once_has_session(source->txn, source->partition, session);
	bool sent = first && dictionary_has_stream(
				 source->txn, source->partition, session);
	uint32_t stream;

	if (sent)
		warn_doubtful(source, entry);
	if (sent && record->kind != RECORD_ENTITY)
		return false;
	stream = dictionary_named_stream(source->collect->dictionary,
	    source->txn, source->partition, session);
	if (stream == 0) /* beyond the limit */
		return false;
	source->stream = stream;
	if (first && !sent)
		once_name_session(source->txn, source->partition, session);
	return true;
}

/* Find the identity of a record: its place in the batch; of an import, the one
 * that it had in another store, if it can have that.  `noted`: others have
 * named the session of the batch.  False: the record came before. */
static bool
take_identity(struct source *source, const struct journal_entry *entry,
    bool noted, struct record *record)
{
	const struct wire_header *header = &entry->header;
	enum once once = ONCE_CLAIMED;

	if (!session_equal(&record->id.session, &header->session))
		once = once_take(
		    source->txn, source->partition, record, source->stream);
	else if (source->once &&
		 !once_is_new(source->txn, source->partition, record))
		return false;
	if (once == ONCE_REPEATED)
		return false;
	if (once == ONCE_NEW && take_named(source, entry, record))
		return true;
	record->id =
	    (struct record_id){ header->session, header->seq, source->place };
	return !noted || take_place(source, record);
}

static void
take_batch(struct source *source, const struct journal_entry *entry)
{
	const uint32_t own = source->stream;
	struct wire_cursor cursor;
	enum wire_fault fault;
	struct record record;
	struct err err;
	struct text plain;
	bool noted;

	fault = wire_body(
	    &entry->header, entry->body, &source->collect->room, &plain);
	if (fault != WIRE_OK) {
		/* The receiver has checked this batch: it was a receiver of
		 * another version. */
		take_rejected(source, entry, wire_fault_name(fault), 0);
		return;
	}
	wire_cursor_init(&cursor, &entry->header, plain);
	cursor.receive_ns = entry->receive_ns;
	source->once = wire_is_once(&entry->header);
	noted = once_has_session(
	    source->txn, source->partition, &entry->header.session);
	for (; wire_next(&cursor, &record); source->place++) {
		source->stream = own;
		if (!take_identity(source, entry, noted, &record)) {
			source->collect->repeated++;
		} else if (collect_define(source->collect, source->txn,
			       source->partition, entry->header.node, &record,
			       &err)) {
			take_record(source, &record);
		} else {
			source->stream = own;
			take_refused(source, entry, &record, err.text);
		}
	}
}

/* A bye adds no names: only what is known can stop. */
static void
take_bye(struct source *source, const struct journal_entry *entry)
{
	const struct wire_header *header = &entry->header;
	uint32_t node, found;

	source->partition = dictionary_find(source->txn, 0, header->partition);
	if (source->partition == 0)
		return;
	node = found =
	    dictionary_find(source->txn, source->partition, header->node);
	if (node == 0 ||
	    !dictionary_next_node(source->txn, source->partition, &found) ||
	    found != node)
		return;
	add_life(source, node, LATEST_STOPPED);
	collect_partition(source->collect, source->partition)->more.last_entry =
	    entry->number;
}

void
collect_entry(struct collect *collect, struct db_txn *txn,
    const struct journal_entry *entry, bool quarantined)
{
	struct source source = { .collect = collect,
		.txn = txn,
		.is_heard = (entry->header.flags & WIRE_FLAG_IMPORTED) == 0,
		.receive_ns = entry->receive_ns,
		.sender = entry->header.node };
	uint64_t before = collect->records;

	collect->batches++;
	if (entry->header.type == WIRE_BYE) {
		take_bye(&source, entry);
		return;
	}
	source.partition = dictionary_number_or_other(
	    collect->dictionary, txn, 0, entry->header.partition);
	source.stream = dictionary_stream(
	    collect->dictionary, txn, source.partition, &entry->header.session);
	dictionary_set_sender(
	    collect->dictionary, source.partition, entry->header.node);
	if (quarantined)
		take_rejected(&source, entry, "quarantined", 0);
	else if (entry->rejected)
		take_rejected(&source, entry, wire_fault_name(entry->fault), 0);
	else if (entry->header.type == WIRE_GAP)
		take_gap(&source, entry);
	else
		take_batch(&source, entry);
	if (collect->records > before)
		collect_partition(collect, source.partition)->more.last_entry =
		    entry->number;
	stream_row_advance(txn, source.partition, entry);
	dictionary_set_sender(collect->dictionary, 0, (struct text){ NULL, 0 });
}
