/*
 * typed_pass - what a pass sends to the typed tables.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/typed_pass.h"

#include <stdlib.h>
#include <string.h>

#include "aggregator/archive/rollup_columns.h"
#include "aggregator/archive/rows/record_columns.h"
#include "aggregator/phases/part_list.h"
#include "aggregator/phases/part_row.h"
#include "aggregator/phases/run_sum.h"
#include "aggregator/tables/latest.h"
#include "aggregator/tables/dictionary.h"
#include "aggregator/tables/stream_row.h"
#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"

enum { SENT_EVENTS = 1 << 20 };

/* Begin a row of a table on the home shard of the partition. */
static struct typed
begin(struct typed_pass *pass, unsigned number, unsigned shard)
{
	struct typed row =
	    typed_begin(block_sender_block(pass->sender, shard, number),
		&schema_tables[number]);

	typed_put_uint(&row, pass->part);
	return row;
}

static int
end(struct typed_pass *pass, unsigned number, unsigned shard, int32_t hour,
    uint64_t hash, struct err *err)
{
	if (number > SCHEMA_PHASES)
		commits_change(pass->commits, shard, (enum schema_number)number,
		    pass->part, hour);
	return block_sender_added(pass->sender, shard, number, hash, hour, err);
}

static unsigned
home(const struct typed_pass *pass)
{
	return block_sender_home(pass->sender, pass->part);
}

/* ---- records ---- */

int
typed_pass_record(struct typed_pass *pass, const struct archive_row_id *id,
    uint8_t kind, const struct row_block_item *item, struct err *err)
{
	unsigned number =
	    (unsigned)(typed_of_kind((enum record_kind)kind) - schema_tables);
	unsigned shard = typed_shard(pass->sender->shards, pass->part,
	    lookup_number(&pass->lookup, id->node), id->hour);
	uint64_t hash;

	if (!archive_put_record(block_sender_block(pass->sender, shard, number),
		(enum record_kind)kind, id, item, &pass->lookup, &hash))
		return 0;
	commits_add(pass->commits, shard, (enum schema_number)number,
	    pass->part, id->hour, pass->is_again, hash);
	return end(pass, number, shard, id->hour, hash, err);
}

/* ---- names ---- */

static int
send_name(struct typed_pass *pass, struct text key, struct text value,
    struct err *err)
{
	enum { KEY_BYTES = 9 };
	struct typed row;
	struct text name = value;
	uint32_t number;
	uint8_t kind;

	if (key.bytes != KEY_BYTES)
		return 0;
	number = varint_get_u32_be(key.at + KEY_BYTES - sizeof(number));
	switch (key.at[0]) {
	case 'n': kind = ARCHIVE_NAME; break;
	case 'r': kind = ARCHIVE_NAME_RUN; break;
	case 'd':
		kind = value.bytes > 0 ? ARCHIVE_NAME_HOST : ARCHIVE_NAME_NODE;
		if (!dictionary_text(pass->txn, pass->partition, number, &name))
			return 0;
		break;
	default: return 0;
	}
	if (number == 0)
		return 0; /* how many there are */
	row = begin(pass, SCHEMA_NAMES, home(pass));
	typed_put_uint(&row, kind);
	typed_put_text(&row, name);
	typed_put_uint(&row, pass->pos);
	typed_put_uint(&row, number);
	return end(pass, SCHEMA_NAMES, home(pass), 0, row.hash, err);
}

/* ---- phases ---- */

/* Was it sent since the last commit? */
static bool
is_sent(struct typed_pass *pass, const struct part_row_key *of,
    const struct part_row_state *state, const struct phase_entry *entry)
{
	const uint64_t identity[] = { (uint64_t)pass->partition << 32 |
					  of->phase,
		state->key_hash, (uint64_t)entry->id.time_ns, entry->id.seq,
		(uint64_t)entry->id.stream << 32 | entry->id.index,
		(uint64_t)state->scope << 1 | entry->is_end, entry->node,
		pass->list.form };
	uint64_t hash = typed_hash((struct text){
	    (const char *)identity, (uint32_t)sizeof(identity) });
	const struct text key = { (const char *)&hash, sizeof(hash) };
	uint32_t number;

	if (string_table_find(&pass->sent_events, key, &number))
		return true;
	if (!typed_pass_is_full(pass))
		string_table_add(&pass->sent_events, key);
	return false;
}

static int
send_event(struct typed_pass *pass, const struct part_row_key *of,
    const struct part_row_state *state, const struct phase_entry *entry,
    struct err *err)
{
	struct text scope = lookup_number(&pass->lookup, state->scope);
	int32_t hour = key_hour(entry->id.time_ns);
	unsigned shard =
	    typed_shard(pass->sender->shards, pass->part, scope, hour);
	struct typed row = begin(pass, SCHEMA_PHASES, shard);
	const struct text none = { NULL, 0 };
	uint64_t hash;

	typed_put_int(&row, hour);
	typed_put_text(&row, lookup_number(&pass->lookup, of->phase));
	typed_put_uint(&row, pass->list.form);
	typed_put_uint(&row, state->key_hash);
	typed_put_text(&row, scope);
	typed_put_int(&row, entry->id.time_ns);
	typed_put_uint(
	    &row, entry->is_end
		      ? (entry->measured ? ARCHIVE_END_MEASURED : ARCHIVE_END)
		      : ARCHIVE_START);
	typed_put_text(&row, entry->node == state->scope
				 ? none
				 : lookup_number(&pass->lookup, entry->node));
	archive_put_sent(&row, &entry->id, &pass->lookup);
	typed_put_uint(&row, pass->pos);
	hash = row.hash;
	typed_put_text(&row, state->key);
	typed_put_int(&row, entry->measured_ns);
	if (!archive_put_attributes(&row, entry->id.body, &pass->lookup))
		(void)archive_put_attributes(
		    &row, (struct text){ "", 1 }, &pass->lookup);
	return end(pass, SCHEMA_PHASES, shard, hour, hash, err);
}

/* Is it a part of its phase?  Otherwise a merge is under way, and its events
 * are in others, too. */
static bool
is_listed(struct typed_pass *pass, const struct part_row_key *of)
{
	struct part_list *list = &pass->list;

	if (list->partition != of->partition || list->phase != of->phase)
		(void)part_list_get(list, pass->txn, of->partition, of->phase);
	for (uint32_t i = 0; i < list->count; i++)
		if (list->at[i].number == of->part)
			return true;
	return false;
}

void
typed_pass_damaged(struct typed_pass *pass, unsigned table, struct text key)
{
	struct part_row_key of;

	pass->damaged++;
	if (table == TABLES_PHASES && part_row_get_key(key, &of) &&
	    is_listed(pass, &of))
		commits_lose_phase(pass->commits, pass->part,
		    lookup_number(&pass->lookup, of.phase), pass->list.form);
}

static int
send_part_row(struct typed_pass *pass, struct text key, struct text value,
    struct err *err)
{
	struct part_row_key of;
	int rc = 0;

	if (!part_row_get_key(key, &of) || !is_listed(pass, &of))
		return 0;
	if (!part_row_open(&pass->part_row, value) ||
	    !part_row_complete(&pass->part_row)) {
		typed_pass_damaged(pass, TABLES_PHASES, key);
		return 0;
	}
	for (uint32_t s = 0; s < pass->part_row.states && rc == 0; s++) {
		const struct part_row_state *state = &pass->part_row.state[s];

		for (uint32_t i = state->from; i < state->to && rc == 0; i++)
			rc = is_sent(pass, &of, state, &pass->part_row.at[i])
				 ? 0
				 : send_event(pass, &of, state,
				       &pass->part_row.at[i], err);
	}
	return rc;
}

/* What the list of a phase says, and its statistics.  A phase that is not there
 * any more has form 0. */
static int
send_sums(struct typed_pass *pass, struct text key, struct text value,
    struct err *err)
{
	struct part_list *list = &pass->list;
	struct text stats = { NULL, 0 }, id;
	struct typed row;
	uint64_t events = 0;
	uint32_t phase;
	unsigned char of[8];

	if (key.bytes < sizeof(of))
		return 0;
	phase = varint_get_u32_be(key.at + 4);
	memcpy(of, key.at, sizeof(of));
	if ((!part_list_get(list, pass->txn, pass->partition, phase) &&
		value.bytes > 0) ||
	    (!db_get(pass->txn, TABLES_STATS,
		 (struct text){ (const char *)of, sizeof(of) }, &stats) &&
		db_was_damaged(pass->txn))) {
		pass->damaged++;
		return 0;
	}
	row = begin(pass, SCHEMA_SUMS, home(pass));
	id = lookup_number(&pass->lookup, phase);
	typed_put_text(&row, id);
	typed_put_uint(&row, pass->pos);
	typed_put_uint(&row, list->form);
	typed_put_uint(&row, list->fifo);
	typed_put_uint(&row, list->marks);
	typed_put_text(&row, stats);
	for (uint32_t i = 0; i < list->count; i++)
		events += list->at[i].events;
	commits_set_phase(pass->commits, pass->part, id, list->form, events);
	return end(pass, SCHEMA_SUMS, home(pass), 0, row.hash, err);
}

/* ---- counts ---- */

static int
send_counts(struct typed_pass *pass, struct err *err)
{
	struct partition_counts counts;
	struct text name;
	struct typed row;

	tables_get_counts(pass->txn, pass->partition, &counts);
	if (!dictionary_text(pass->txn, 0, pass->partition, &name))
		return 0;
	row = begin(pass, SCHEMA_PARTITIONS, home(pass));
	typed_put_uint(&row, pass->pos);
	typed_put_text(&row, name);
	typed_put_uint(&row, counts.nodes);
	typed_put_int(&row, counts.first_ns);
	typed_put_int(&row, counts.last_ns);
	typed_put_int(&row, counts.oldest_ns);
	typed_put_uint(&row, counts.rejected_bytes);
	typed_put_uint(&row, counts.rejected_cut);
	typed_put_uint(&row, counts.last_entry);
	for (unsigned i = 0; i < RECORD_KINDS; i++)
		native_put_uint(row.block, row.column,
		    counts.records[i] + counts.archived[i]);
	native_end_array(row.block, row.column);
	return end(pass, SCHEMA_PARTITIONS, home(pass), 0, row.hash, err);
}

/* ---- what was last heard of nodes ---- */

static int
send_nodes(struct typed_pass *pass, struct text key, struct text value,
    struct err *err)
{
	uint32_t partition, block;
	struct latest_row of;

	if (!latest_get_key(key, &partition, &block) ||
	    !latest_decode(&of, value))
		return 0;
	for (uint32_t i = 0; i < LATEST_NODES; i++) {
		const struct latest *latest = &of.at[i];
		struct typed row;

		if ((of.has >> i & 1) == 0)
			continue;
		row = begin(pass, SCHEMA_NODES, home(pass));
		typed_put_text(&row,
		    lookup_number(&pass->lookup, LATEST_NODES * block + i));
		typed_put_uint(&row, pass->pos);
		typed_put_int(&row, latest->receive_ns);
		typed_put_int(&row, latest->time_ns);
		typed_put_int(&row, latest->sample_ns);
		typed_put_int(&row, latest->clock.time_ns);
		typed_put_int(&row, latest->clock.value);
		typed_put_int(&row, latest->spool.time_ns);
		typed_put_int(&row, latest->spool.value);
		typed_put_int(&row, latest->life.time_ns);
		typed_put_int(&row, latest->life.value);
		if (end(pass, SCHEMA_NODES, home(pass), 0, row.hash, err) != 0)
			return -1;
	}
	return 0;
}

/* ---- entities ---- */

static int
send_entity(struct typed_pass *pass, struct text key, struct text value,
    struct err *err)
{
	struct varint_reader u = varint_reader_of(value);
	struct row_block_item item = { .time_ns = 0 };
	uint32_t kind, node;
	struct typed row;

	if (key.bytes <= 8)
		return 0;
	kind = varint_get_u32_be(key.at + 4);
	node = varint_get_u32(&u);
	item.stream = varint_get_u32(&u);
	item.seq = varint_get(&u);
	item.index = varint_get_u32(&u);
	item.receive_ns = varint_unzigzag(varint_get(&u));
	if (u.bad)
		return 0;
	row = begin(pass, SCHEMA_ENTITIES, home(pass));
	typed_put_text(&row, lookup_number(&pass->lookup, kind));
	typed_put_text(&row, (struct text){ key.at + 8, key.bytes - 8 });
	typed_put_uint(&row, pass->pos);
	typed_put_text(&row, lookup_number(&pass->lookup, node));
	archive_put_sent(&row, &item, &pass->lookup);
	if (!archive_put_attributes(
		&row, varint_get_bytes(&u, varint_left(&u)), &pass->lookup))
		(void)archive_put_attributes(
		    &row, (struct text){ "", 1 }, &pass->lookup);
	return end(pass, SCHEMA_ENTITIES, home(pass), 0, row.hash, err);
}

/* ---- test runs ---- */

/* An element of an array column. */
static void
put_text(struct typed *row, unsigned column, struct text text)
{
	native_put_text(row->block, row->column + column, text);
}

static void
put_uint(struct typed *row, unsigned column, uint64_t value)
{
	native_put_uint(row->block, row->column + column, value);
}

static void
put_run_events(
    struct typed *row, const struct run_row *run, struct lookup *names)
{
	enum { COLUMNS = 11 };

	for (uint32_t i = 0; i < run->count; i++) {
		const struct run_row_event *event = &run->at[i];
		struct session_id session = { { 0 } };

		(void)lookup_session(names, event->id.stream, &session);
		put_text(row, 0, lookup_number(names, event->event));
		put_uint(row, 1, (uint64_t)event->id.time_ns);
		put_uint(row, 2, (uint64_t)event->id.receive_ns);
		put_text(row, 3, lookup_number(names, event->node));
		put_text(row, 4,
		    (struct text){
			(const char *)session.bytes, sizeof(session.bytes) });
		put_uint(row, 5, event->id.seq);
		put_uint(row, 6, event->id.index);
	}
	for (uint32_t i = 0; i < run->tallies; i++) {
		const struct run_row_tally *tally = &run->tally[i];

		put_text(row, 7, lookup_number(names, tally->event));
		put_uint(row, 8, (uint64_t)(int64_t)tally->hour);
		put_uint(row, 9, (uint64_t)tally->first_ns);
		put_uint(row, 10, tally->count);
	}
	for (unsigned i = 0; i < COLUMNS; i++)
		native_end_array(row->block, row->column + i);
}

static int
send_run(struct typed_pass *pass, struct text key, struct text value,
    struct err *err)
{
	struct run_row *run = &pass->run_row;
	struct run_row_key of;
	struct typed row;

	if (!run_row_get_key(key, &of) || !run_row_decode(run, value))
		return 0;
	row = begin(pass, SCHEMA_RUNS, home(pass));
	typed_put_text(&row, lookup_number(&pass->lookup, of.model));
	typed_put_uint(&row, of.run);
	typed_put_text(&row, run->id);
	typed_put_uint(&row, pass->pos);
	typed_put_int(&row, run_row_time(run));
	typed_put_uint(&row, run->known | run->error << 1);
	typed_put_text(&row, lookup_number(&pass->lookup, run->group));
	typed_put_text(&row, lookup_number(&pass->lookup, run->requestor));
	typed_put_uint(&row, run->overflow);
	typed_put_int(&row, run->overflow_ns);
	put_run_events(&row, run, &pass->lookup);
	return end(pass, SCHEMA_RUNS, home(pass), 0, row.hash, err);
}

/* ---- groups of test runs ---- */

static int
send_group(struct typed_pass *pass, struct text key, struct text value,
    struct err *err)
{
	struct lookup *names = &pass->lookup;
	const struct text none = { NULL, 0 };
	struct run_sum_key of;
	struct typed row;
	bool known;

	if (!run_sum_get_key(key, &of))
		return 0;
	known = of.group != RUN_SUM_GROUP_UNKNOWN;
	row = begin(pass, SCHEMA_GROUPS, home(pass));
	typed_put_text(&row, lookup_number(names, of.model));
	typed_put_uint(&row, known);
	typed_put_text(&row,
	    known && of.group != 0 ? lookup_number(names, of.group) : none);
	typed_put_uint(&row, of.part);
	typed_put_text(
	    &row, of.number != 0 ? lookup_number(names, of.number) : none);
	typed_put_uint(&row, of.which);
	typed_put_uint(&row, pass->pos);
	typed_put_uint(&row, of.number);
	typed_put_text(&row, value);
	return end(pass, SCHEMA_GROUPS, home(pass), 0, row.hash, err);
}

/* ---- rollups ---- */

static int
send_bucket(struct typed_pass *pass, const struct key_row_block *of,
    const struct rollup_row_node *node, uint32_t at, struct err *err)
{
	struct text name = lookup_number(&pass->lookup, node->node);
	unsigned shard =
	    typed_shard(pass->sender->shards, pass->part, name, of->hour);
	struct typed row = begin(pass, SCHEMA_ROLLUPS, shard);

	typed_put_int(&row, of->hour);
	typed_put_uint(&row, of->slice);
	typed_put_text(&row, lookup_number(&pass->lookup, of->track));
	typed_put_text(&row, name);
	typed_put_uint(&row, of->row);
	typed_put_uint(&row, pass->rollup->step[at]);
	typed_put_uint(&row, pass->pos);
	rollup_columns_put(&row, pass->rollup, node, at);
	return end(pass, SCHEMA_ROLLUPS, shard, of->hour, row.hash, err);
}

/* Nodes whose buckets are made later have samples. */
static int
send_rollup(struct typed_pass *pass, struct text key, struct text value,
    struct err *err)
{
	struct key_row_block of;
	struct rollup_row *row;

	if (pass->rollup == NULL)
		pass->rollup = memory_zero(1, sizeof(*pass->rollup));
	row = pass->rollup;
	if (!key_get_row_block(key, &of) || !rollup_open(row, value))
		return 0;
	for (uint32_t m = 0; m < row->metrics; m++)
		if (rollup_read(row, m) == NULL)
			return 0;
	for (uint32_t k = 0; k < row->nodes; k++)
		for (uint32_t i = row->node[k].from; i < row->node[k].to; i++)
			if (send_bucket(pass, &of, &row->node[k], i, err) != 0)
				return -1;
	return 0;
}

/* ---- what comes next, and what was imported ---- */

static int
send_stream(struct typed_pass *pass, struct text key, struct text value,
    struct err *err)
{
	struct session_id session;
	struct stream_row of;
	struct typed row;
	uint32_t partition;

	if (!stream_row_get_key(key, &partition, &session) ||
	    !stream_row_decode(value, &of))
		return 0;
	row = begin(pass, SCHEMA_STREAMS, home(pass));
	typed_put_text(&row, (struct text){ (const char *)session.bytes,
				 sizeof(session.bytes) });
	typed_put_uint(&row, pass->pos);
	typed_put_text(&row, of.node);
	typed_put_uint(&row, of.last_seq);
	typed_put_uint(&row, of.hash);
	typed_put_int(&row, of.receive_ns);
	typed_put_uint(&row, of.owner);
	typed_put_uint(&row, of.derived);
	return end(pass, SCHEMA_STREAMS, home(pass), 0, row.hash, err);
}

/* A value begins with the number of a session. */
static int
send_known(struct typed_pass *pass, struct text key, struct text value,
    struct err *err)
{
	const struct text none = { NULL, 0 };
	struct key_once of;
	struct typed row;

	if (!key_get_once(key, &of))
		return 0;
	row = begin(pass, SCHEMA_KNOWN, home(pass));
	typed_put_int(&row, of.hour);
	typed_put_text(
	    &row, (struct text){ (const char *)of.hash, sizeof(of.hash) });
	typed_put_uint(&row, pass->pos);
	if (value.bytes < sizeof(uint32_t)) {
		typed_put_text(&row, none);
		typed_put_text(&row, none);
	} else {
		archive_put_session(
		    &row, &pass->lookup, varint_get_u32_be(value.at));
		typed_put_text(
		    &row, (struct text){ value.at + sizeof(uint32_t),
			      value.bytes - (uint32_t)sizeof(uint32_t) });
	}
	return end(pass, SCHEMA_KNOWN, home(pass), 0, row.hash, err);
}

/* ---- rows, alone and in blocks ---- */

struct block_of {
	struct typed_pass *pass;
	unsigned table;
};

static int
send_of_block(void *arg, struct text key, struct text value, struct err *err)
{
	const struct block_of *of = arg;

	return typed_pass_row(of->pass, of->table, key, value, err);
}

static int
send_block(struct typed_pass *pass, struct packed_table table, struct text key,
    struct text value, struct err *err)
{
	struct block_of of = { pass, table.rows };

	if (pass->packed == NULL)
		pass->packed = packed_new();
	return packed_each(pass->packed, pass->txn, table, key, value,
	    send_of_block, &of, err);
}

int
typed_pass_row(struct typed_pass *pass, unsigned table, struct text key,
    struct text value, struct err *err)
{
	switch (table) {
	case TABLES_NAMES:
		return key.bytes > 0 && key.at[0] == 'l'
			   ? send_nodes(pass, key, value, err)
			   : send_name(pass, key, value, err);
	case TABLES_ENTITIES: return send_entity(pass, key, value, err);
	case TABLES_RUNS: return send_run(pass, key, value, err);
	case TABLES_GROUPS: return send_group(pass, key, value, err);
	case TABLES_PHASES:
		if (key.bytes == PART_LIST_KEY_BYTES)
			return send_sums(pass, key, value, err);
		return value.bytes > 0 ? send_part_row(pass, key, value, err)
				       : 0;
	case TABLES_STREAMS: return send_stream(pass, key, value, err);
	case TABLES_ONCE: return send_known(pass, key, value, err);
	case TABLES_ROLLUPS:
	case TABLES_ROLLUPS_END: return send_rollup(pass, key, value, err);
	case TABLES_META: return send_counts(pass, err);
	case TABLES_NAME_BLOCKS:
		return send_block(pass, tables_run_names, key, value, err);
	case TABLES_ENTITY_BLOCKS:
		return send_block(pass, tables_entities, key, value, err);
	case TABLES_RUN_BLOCKS:
		return send_block(pass, tables_runs, key, value, err);
	default: return 0;
	}
}

int
typed_pass_common(struct typed_pass *pass, struct text key, struct text value,
    struct err *err)
{
	struct typed row = begin(pass, SCHEMA_MODELS, home(pass));

	typed_put_text(&row, key);
	typed_put_uint(&row, pass->pos);
	typed_put_text(&row, value);
	return end(pass, SCHEMA_MODELS, home(pass), 0, row.hash, err);
}

/* ---- memory ---- */

bool
typed_pass_is_full(const struct typed_pass *pass)
{
	return pass->sent_events.count >= SENT_EVENTS;
}

void
typed_pass_forget(struct typed_pass *pass)
{
	string_table_clear(&pass->sent_events);
	string_table_init(&pass->sent_events);
}

void
typed_pass_clear(struct typed_pass *pass)
{
	lookup_clear(&pass->lookup);
	part_list_clear(&pass->list);
	part_row_clear(&pass->part_row);
	packed_free(&pass->packed);
	if (pass->rollup != NULL)
		rollup_row_clear(pass->rollup);
	free(pass->rollup);
	pass->rollup = NULL;
	string_table_clear(&pass->sent_events);
}
