/*
 * rebuild - derive all phases and statistics again from the stored events.
 *
 * The roles that events play are written to a table of their own, sorted by
 * phase, key, scope and time.  Then parts are made of them in that order.
 * Transactions are bounded.  If the process ends
 * in between, the whole rebuild starts again.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/writer_private.h"

#include "aggregator/tables/lookup.h"
#include "proto/base/varint.h"
#include "proto/os/log.h"

#include <string.h>

enum {
	DELETE_ROWS = 50000, /* per transaction */
	SORT_KEY_BYTES = KEY_PHASE_BYTES + 8 + 1 + 4 + 8 + 4 + 4,
};
#define SIGN64 (UINT64_C(1) << 63)

/* ---- 1: delete the old phases ---- */

enum db_result
rebuild_clear(
    struct writer *writer, unsigned table, uint64_t what, struct err *err)
{
	const struct text all = { NULL, 0 };
	struct db_txn *txn;
	enum db_result result;
	uint64_t deleted;

	do {
		if (db_begin(writer->db, true, &txn, err) != 0)
			return DB_BROKEN;
		tables_put_fact(txn, FACT_REBUILD, what);
		deleted = tables_delete(txn, table, all, DELETE_ROWS);
		result = db_commit(&txn, err);
	} while (result == DB_OK && deleted == DELETE_ROWS);
	return result;
}

/* ---- 2: sort the roles of events ---- */

/* What a row of the sort says of a role; above that is the mark of one in a
 * phase without a model. */
enum { ROLE_MEASURED = 1, ROLE_FIFO = 2, ROLE_MARK_SHIFT = 2 };

static void
put_role(struct writer *writer, struct db_cursor *sort,
    const struct collect_role *role, const struct key_phase *phase,
    uint32_t mark)
{
	const struct row_block_item *id = &role->entry.id;
	struct buffer *value = &writer->indexer_write.value;
	unsigned char key[SORT_KEY_BYTES], *to = key + KEY_PHASE_BYTES;

	key_put_phase(key, phase);
	/* The order of phase_compare. */
	varint_put_u64_be(to, (uint64_t)id->time_ns ^ SIGN64);
	to[8] = !role->entry.is_end;
	varint_put_u32_be(to + 9, id->stream);
	varint_put_u64_be(to + 13, id->seq);
	varint_put_u32_be(to + 21, id->index);
	varint_put_u32_be(to + 25, role->entry.node);
	value->bytes = 0;
	varint_put(value, varint_delta(id->time_ns, id->receive_ns));
	varint_put(value, (role->entry.measured ? ROLE_MEASURED : 0) |
			      (role->fifo ? ROLE_FIFO : 0) |
			      (uint64_t)mark << ROLE_MARK_SHIFT);
	varint_put(value, varint_zigzag(role->entry.measured_ns));
	varint_put_text(value, role->key);
	buffer_put(value, id->body.at, id->body.bytes);
	db_cursor_put(sort, (struct text){ (const char *)key, sizeof(key) },
	    buffer_text(value));
}

static void
put_groups(struct writer *writer, struct db_cursor *sort,
    const struct groups *groups, bool is_own)
{
	for (uint32_t i = 0; i < groups->count; i++) {
		struct key_phase phase = match_key(&groups->at[i]);
		uint32_t mark = is_own ? groups->at[i].key[2] : 0;

		if (is_own)
			phase.key_hash = 0; /* it is not known yet */
		for (uint32_t member = groups->at[i].first; member != GROUP_END;
		     member = group_next(groups, member))
			put_role(writer, sort, &writer->collect.role[member],
			    &phase, mark);
	}
}

static void
put_roles(struct writer *writer, struct db_txn *txn)
{
	struct collect *collect = &writer->collect;
	struct db_cursor *sort;

	groups_sort(&collect->states);
	sort = db_cursor_open(txn, TABLES_SORT);
	put_groups(writer, sort, &collect->states, false);
	put_groups(writer, sort, &collect->own, true);
	db_cursor_close(&sort);
}

/* Copy the texts: matching may write new names, which moves pages. */
static void
match_item(struct writer *writer, struct db_txn *txn, struct lookup *lookup,
    const struct key_row_block *row_key, const struct row_block_item *item)
{
	struct collect *collect = &writer->collect;
	struct match_event event = { .partition = row_key->partition,
		.node = row_key->node };
	struct row_block_body body;
	uint32_t count;

	if (!row_block_get_body(item->body, RECORD_EVENT, item->time_ns, &body))
		return;
	event.source = body.source.number;
	event.name = body.name.number;
	event.source_text =
	    arena_text(&collect->arena, lookup_name(lookup, &body.source));
	event.name_text =
	    arena_text(&collect->arena, lookup_name(lookup, &body.name));
	event.id = *item;
	event.id.body = body.attributes;
	event.pairs = lookup_pairs(lookup, body.attributes, &count);
	match_event(collect, txn, &event);
}

/* Match the events of one row; the row is a copy, because its page may move. */
static void
match_row(struct writer *writer, struct db_txn *txn, struct lookup *lookup,
    const struct key_row_block *row_key, struct text value)
{
	struct row_block_reader rows;
	struct row_block_item item;

	value = arena_text(&writer->collect.arena, value);
	if (!row_block_open(&rows, value, row_key->first_ns))
		return;
	while (row_block_next(&rows, &item))
		match_item(writer, txn, lookup, row_key, &item);
}

/* The same for a chunk. */
static void
match_chunk(struct writer *writer, struct db_txn *txn, struct lookup *lookup,
    const struct key_row_block *row_key, struct text value)
{
	struct compacted_row_rows *rows = &writer->compact.rows;
	struct key_row_block of = *row_key;
	struct row_block_item item;

	if (!compacted_row_open(rows, value) ||
	    !compacted_row_read_bodies(rows))
		return;
	for (uint32_t b = 0; b < rows->series_blocks; b++) {
		of.node = rows->series_block[b].node;
		of.track = rows->series_block[b].track;
		for (uint32_t i = rows->series_block[b].from;
		     i < rows->series_block[b].to; i++) {
			compacted_row_get(rows, i, &item);
			item.body =
			    arena_text(&writer->collect.arena, item.body);
			match_item(writer, txn, lookup, &of, &item);
		}
	}
}

/* The position of the sort. */
struct place {
	unsigned table; /* row blocks, then chunks */
	struct key_row_block from;
	bool more;
};

/* Match the rows of one transaction from `place` on; advances `place`. */
static enum db_result
sort_some(struct writer *writer, struct lookup *lookup, struct place *place,
    struct err *err)
{
	struct key_row_block *from = &place->from, row_key;
	unsigned char bytes[KEY_ROW_BLOCK_BYTES];
	struct db_cursor *rows;
	struct text key, value;
	struct db_txn *txn;

	if (db_begin(writer->db, true, &txn, err) != 0)
		return DB_BROKEN;
	collect_reset(&writer->collect);
	lookup_use(lookup, txn, from->partition);
	rows = db_cursor_open(txn, place->table);
	place->more = db_seek(rows, hour_cursor_key(bytes, from), &key, &value);
	while (place->more) {
		place->more = key_get_row_block(key, &row_key) &&
			      row_key.partition == from->partition &&
			      row_key.kind == RECORD_EVENT;
		if (!place->more)
			break;
		*from = row_key;
		if (writer->collect.roles >= REBUILD_ROWS ||
		    writer->collect.runs >= REBUILD_ROWS ||
		    writer->collect.arena.used >= COLLECT_BYTES)
			break;
		if (place->table == TABLES_ROW_BLOCKS)
			match_row(writer, txn, lookup, &row_key, value);
		else
			match_chunk(writer, txn, lookup, &row_key, value);
		place->more = db_next(rows, &key, &value);
	}
	db_cursor_close(&rows);
	put_roles(writer, txn);
	/* Add what events say about their runs, which no model asked for
	 * before. */
	indexer_write_entities(
	    &writer->indexer_write, txn, &writer->collect, true);
	indexer_write_runs(&writer->indexer_write, txn, &writer->collect);
	indexer_write_counts(txn, &writer->collect);
	return db_commit(&txn, err);
}

static enum db_result
sort_all(struct writer *writer, struct err *err)
{
	struct lookup lookup = { .slots = NULL };
	enum db_result result = DB_OK;
	struct db_txn *txn;
	uint32_t partitions, i;

	if (db_begin(writer->db, false, &txn, err) != 0)
		return DB_BROKEN;
	partitions = dictionary_last(txn, 0);
	db_abort(&txn);
	for (i = 2; i < 2 * partitions + 2 && result == DB_OK; i++) {
		struct place place = {
			.table = i % 2 ? TABLES_CHUNKS : TABLES_ROW_BLOCKS,
			.from = { .partition = i / 2,
			    .kind = RECORD_EVENT,
			    .hour = INT32_MIN,
			    .first_ns = INT64_MIN },
			.more = true,
		};

		while (place.more && result == DB_OK)
			result = sort_some(writer, &lookup, &place, err);
	}
	lookup_clear(&lookup);
	return result;
}

/* ---- 3: make parts of the sorted roles ---- */

static bool
get_role(struct collect *collect, struct text key, struct text value)
{
	struct varint_reader u;
	struct collect_role role = { .fifo = false };
	struct key_phase phase;
	struct row_block_item *id = &role.entry.id;
	const char *from = key.at + KEY_PHASE_BYTES;
	struct groups *groups;
	struct group *group;
	uint64_t flags;
	uint32_t mark;

	if (key.bytes != SORT_KEY_BYTES ||
	    !key_get_phase((struct text){ key.at, KEY_PHASE_BYTES }, &phase))
		return false;
	u = varint_reader_of(arena_text(&collect->arena, value));
	id->time_ns = (int64_t)(varint_get_u64_be(from) ^ SIGN64);
	role.entry.is_end = from[8] == 0;
	id->stream = varint_get_u32_be(from + 9);
	id->seq = varint_get_u64_be(from + 13);
	id->index = varint_get_u32_be(from + 21);
	role.entry.node = varint_get_u32_be(from + 25);
	id->receive_ns = varint_undelta(id->time_ns, varint_get(&u));
	flags = varint_get_max(&u, OWN_PHASE_MARKS << ROLE_MARK_SHIFT);
	mark = (uint32_t)flags >> ROLE_MARK_SHIFT;
	role.entry.measured = (flags & ROLE_MEASURED) != 0;
	role.fifo = (flags & ROLE_FIFO) != 0;
	role.entry.measured_ns = varint_unzigzag(varint_get(&u));
	role.key = varint_get_text(&u);
	id->body = varint_get_bytes(&u, varint_left(&u));
	if (u.bad)
		return false;
	groups = mark != 0 ? &collect->own : &collect->states;
	group = group_of(groups, (uint32_t[]){ phase.partition, phase.phase,
				     mark + (uint32_t)(phase.key_hash >> 32),
				     (uint32_t)phase.key_hash, phase.scope });
	group_append(groups, group, collect_add_role(collect, &role));
	return true;
}

static enum db_result
pair_some(struct writer *writer, bool *more, struct err *err)
{
	struct collect *collect = &writer->collect;
	struct text all = { NULL, 0 }, key, value;
	struct db_cursor *sort;
	struct db_txn *txn;
	uint64_t rows = 0;

	if (db_begin(writer->db, true, &txn, err) != 0)
		return DB_BROKEN;
	collect_reset(collect);
	sort = db_cursor_open(txn, TABLES_SORT);
	*more = db_seek(sort, all, &key, &value);
	while (*more && rows < REBUILD_ROWS &&
	       collect->arena.used < COLLECT_BYTES) {
		get_role(collect, key, value);
		rows++;
		db_cursor_del(sort);
		*more = db_next(sort, &key, &value);
	}
	db_cursor_close(&sort);
	writer->indexer_write.is_rebuild = true;
	indexer_write_phases(&writer->indexer_write, txn, collect);
	writer->indexer_write.is_rebuild = false;
	return db_commit(&txn, err);
}

enum db_result
rebuild_end(struct writer *writer, struct err *err)
{
	struct db_txn *txn;

	if (db_begin(writer->db, true, &txn, err) != 0)
		return DB_BROKEN;
	tables_put_models(txn, &writer->models);
	tables_put_fact(txn, FACT_REBUILD, 0);
	return db_commit(&txn, err);
}

/* Runs are derived in the order of their events: nearly every id and entity of
 * a run is sought, each in another block.  They are packed again later. */
static enum db_result
unpack_table(struct writer *writer, struct packed_table table, struct err *err)
{
	struct buffer from = { NULL, 0, 0 };
	enum db_result result = DB_OK;
	struct db_txn *txn;
	bool more = true;

	while (more && result == DB_OK) {
		if (db_begin(writer->db, true, &txn, err) != 0) {
			result = DB_BROKEN;
			break;
		}
		more = packed_unpack_some(
		    writer->indexer_write.packed, txn, table, &from);
		result = db_commit(&txn, err);
	}
	buffer_clear(&from);
	return result;
}

enum db_result
rebuild_all(struct writer *writer, struct err *err)
{
	static const unsigned derived[] = { TABLES_PHASES, TABLES_STATS,
		TABLES_RUNS, TABLES_RUN_BLOCKS, TABLES_RUN_TIMES,
		TABLES_TIME_BLOCKS, TABLES_GROUPS, TABLES_SORT };
	enum db_result result = DB_OK;
	bool more = true;
	size_t i;

	phase_memory_forget(&writer->indexer_write.memory);
	match_forget(&writer->collect);
	writer->merge.busy = writer->pack.busy = false;
	for (i = 0; i < sizeof(derived) / sizeof(*derived) && result == DB_OK;
	     i++)
		result = rebuild_clear(writer, derived[i], REBUILD_EVENTS, err);
	if (result == DB_OK)
		result = unpack_table(writer, tables_run_names, err);
	if (result == DB_OK)
		result = unpack_table(writer, tables_entities, err);
	if (result == DB_OK)
		result = sort_all(writer, err);
	if (result == DB_OK)
		result = rebuild_runs(writer, err);
	while (result == DB_OK && more)
		result = pair_some(writer, &more, err);
	if (result == DB_OK)
		result =
		    rebuild_clear(writer, TABLES_SORT, REBUILD_EVENTS, err);
	if (result == DB_OK)
		result = rebuild_end(writer, err);
	collect_reset(&writer->collect);
	phase_memory_forget(&writer->indexer_write.memory);
	if (result != DB_OK)
		collect_forget(&writer->collect);
	else
		log_info("indexer: phases were rebuilt");
	return result;
}

/* Collect the entities of one transaction from `from` on; true: there are
 * more. */
static bool
describe_some(struct writer *writer, struct db_txn *txn, struct buffer *from)
{
	struct packed_cursor *cursor = packed_cursor_open(txn, tables_entities);
	struct collect *collect = &writer->collect;
	struct text key, value, kind, id;
	bool more = packed_seek(cursor, buffer_text(from), &key, &value);
	uint32_t rows = 0;

	for (;
	     more && rows < REBUILD_ROWS && collect->arena.used < COLLECT_BYTES;
	     rows++, more = packed_next(cursor, &key, &value)) {
		if (key.bytes <= 8 ||
		    !dictionary_text(txn, varint_get_u32_be(key.at),
			varint_get_u32_be(key.at + 4), &kind))
			continue;
		from->bytes = 0;
		buffer_put(from, key.at, key.bytes);
		/* A copy: looking names up may write, which moves pages. */
		id = (struct text){ key.at + 8, key.bytes - 8 };
		id = arena_text(&collect->arena, id);
		kind = arena_text(&collect->arena, kind);
		collect_run_entity(
		    collect, txn, varint_get_u32_be(key.at), kind, id);
	}
	if (more) {
		from->bytes = 0;
		buffer_put(from, key.at, key.bytes);
	}
	packed_cursor_close(&cursor);
	return more;
}

enum db_result
rebuild_runs(struct writer *writer, struct err *err)
{
	struct buffer from = { NULL, 0, 0 };
	enum db_result result = DB_OK;
	bool more = writer->models.runs > 0;
	struct db_txn *txn;

	while (more && result == DB_OK) {
		if (db_begin(writer->db, true, &txn, err) != 0) {
			result = DB_BROKEN;
			break;
		}
		collect_reset(&writer->collect);
		more = describe_some(writer, txn, &from);
		indexer_write_runs(
		    &writer->indexer_write, txn, &writer->collect);
		result = db_commit(&txn, err);
	}
	buffer_clear(&from);
	return result;
}
