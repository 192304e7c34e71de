/*
 * pack - a pass over test runs and the entities that describe them: those that
 * rest are packed (aggregator/packed/packed.h).
 *
 * Where a run is stored changes no answer, so what rests is a guess: an event
 * of a run that was packed costs a little more time.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/writer/writer_private.h"

#include "proto/os/clock.h"

enum {
	RECENT_RUNS = 16 << 10, /* of a partition, by the number of their id */
	TIME_SHARE = 50,        /* a pass takes at most 1/50 of the time */
};
#define RECENT_NS (600 * NS_PER_SECOND)

static bool
run_rests(void *arg, struct text key, struct text value)
{
	const struct pack *pack = arg;
	struct run_row_key run;

	(void)value;
	return run_row_get_key(key, &run) && run.run <= pack->last_run;
}

static bool
entity_rests(void *arg, struct text key, struct text value)
{
	const struct pack *pack = arg;
	struct varint_reader u = varint_reader_of(value);

	(void)key;
	varint_get_u32(&u); /* node */
	varint_get_u32(&u); /* stream */
	varint_get(&u);     /* seq */
	varint_get_u32(&u); /* index */
	return varint_unzigzag(varint_get(&u)) <= pack->rests_ns && !u.bad;
}

static bool
name_rests(void *arg, struct text key, struct text value)
{
	const struct pack *pack = arg;
	uint32_t number;

	return dictionary_is_run(key, value, &number) &&
	       number <= pack->last_run;
}

static bool
time_rests(void *arg, struct text key, struct text value)
{
	const struct pack *pack = arg;
	struct run_row_time at;

	(void)value;
	return run_row_get_time_key(key, &at) && at.run <= pack->last_run;
}

enum { RUNS, TIMES, ENTITIES, TEXTS, NUMBERS, TABLES };
static const struct table {
	const struct packed_table *table;
	packed_rests *rests;
	char letter; /* of names, with which their keys begin */
} tables[TABLES] = {
	[RUNS] = { &tables_runs, run_rests, 0 },
	[TIMES] = { &tables_run_times, time_rests, 0 },
	[ENTITIES] = { &tables_entities, entity_rests, 0 },
	[TEXTS] = { &tables_run_names, name_rests, 'r' },
	[NUMBERS] = { &tables_run_names, name_rests, 't' },
};

/* Move to the next place, and begin there. */
static void
move(struct pack *pack, unsigned models)
{
	pack->pass.from.bytes = 0;
	if (++pack->table < TABLES)
		return;
	pack->table = 0;
	if (++pack->model < models)
		return;
	pack->model = 0;
	pack->partition++;
}

/* The number in keys behind that of the partition; 0: there are no such keys.
 */
static uint32_t
number_of(struct writer *writer, struct db_txn *txn)
{
	const struct pack *pack = &writer->pack;
	const struct model_run *model = &writer->models.run[pack->model];
	struct run_sum_form form;

	if (pack->table != ENTITIES) {
		run_sum_form_make(&form, NULL, txn, pack->partition, model);
		return form.number;
	}
	/* Definitions of metric groups are read as single rows. */
	if (text_equal(model->kind, text_of("set")))
		return 0;
	return dictionary_find(txn, pack->partition, model->kind);
}

/* The front of the keys at the place; false: there are none. */
static bool
set_front(struct writer *writer, struct db_txn *txn)
{
	struct pack *pack = &writer->pack;
	unsigned char *front = pack->pass.front;
	char letter = tables[pack->table].letter;
	uint32_t number;

	if (letter != 0) {
		front[0] = (unsigned char)letter;
		varint_put_u32_be(front + 1, pack->partition);
		return pack->model == 0;
	}
	number = number_of(writer, txn);
	varint_put_u32_be(front, pack->partition);
	varint_put_u32_be(front + 4, number);
	return number != 0;
}

static void
set_limits(struct pack *pack, struct db_txn *txn)
{
	uint32_t last = dictionary_last(txn, pack->partition);

	pack->last_run = last < RECENT_RUNS ? 0 : last - RECENT_RUNS;
	pack->rests_ns = clock_wall_ns() - RECENT_NS;
	if (pack->all) {
		pack->last_run = UINT32_MAX;
		pack->rests_ns = INT64_MAX;
	}
}

/* Pack at the place; false: nothing is left there. */
static bool
pack_here(struct writer *writer, struct db_txn *txn)
{
	struct pack *pack = &writer->pack;

	if (!set_front(writer, txn))
		return false;
	set_limits(pack, txn);
	pack->pass.table = *tables[pack->table].table;
	pack->pass.rests = tables[pack->table].rests;
	pack->pass.arg = pack;
	pack->pass.all = pack->all;
	return packed_pack(writer->indexer_write.packed, txn, &pack->pass);
}

static enum db_result
step(struct writer *writer, struct err *err)
{
	struct pack *pack = &writer->pack;
	enum db_result result;
	struct db_txn *txn;
	bool more = false;

	if (db_begin(writer->db, true, &txn, err) != 0)
		return DB_BROKEN;
	if (pack->partition > dictionary_last(txn, 0)) {
		pack->busy = false;
		db_abort(&txn);
		return DB_OK;
	}
	more = pack_here(writer, txn);
	result = db_commit(&txn, err);
	if (!more || result != DB_OK)
		move(pack, writer->models.runs);
	return result;
}

static void
begin(struct pack *pack, bool all)
{
	pack->busy = true;
	pack->all = all;
	pack->partition = 1;
	pack->model = pack->table = 0;
	pack->pass.from.bytes = 0;
	pack->took_ns = 0;
}

enum db_result
pack_step(struct writer *writer, bool *more, struct err *err)
{
	struct pack *pack = &writer->pack;
	int64_t began_ns = clock_monotonic_ns(), rest_ns;
	enum db_result result;

	*more = false;
	if (writer->models.runs == 0 ||
	    (!pack->busy && began_ns < pack->next_ns))
		return DB_OK;
	if (!pack->busy)
		begin(pack, false);
	result = step(writer, err);
	pack->took_ns += clock_monotonic_ns() - began_ns;
	rest_ns = compact_search_ns(writer);
	if (rest_ns < TIME_SHARE * pack->took_ns)
		rest_ns = TIME_SHARE * pack->took_ns;
	pack->next_ns = clock_monotonic_ns() + rest_ns;
	*more = pack->busy;
	return result;
}

enum db_result
pack_all(struct writer *writer, struct err *err)
{
	struct pack *pack = &writer->pack;
	enum db_result result = DB_OK;

	begin(pack, true);
	while (pack->busy && result == DB_OK && writer->models.runs > 0)
		result = step(writer, err);
	pack->busy = false;
	return result;
}
