/*
 * write_phases - add events to the rows of phases, and these to the
 * statistics.
 *
 * The groups come in the order of the keys, so each row is read and written
 * once, and only the statistics of one phase are in memory at a time.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/indexer/write_records.h"

enum { PAGE_BYTES = 4096 };

/* ---- stored statistics ---- */

static struct text
stats_key(unsigned char to[static 8], uint32_t partition, uint32_t phase)
{
	varint_put_u32_be(to, partition);
	varint_put_u32_be(to + 4, phase);
	return (struct text){ (const char *)to, 8 };
}

void
indexer_write_get_stats(struct db_txn *txn, uint32_t partition, uint32_t phase,
    struct duration_stats *stats)
{
	unsigned char key[8];
	struct text value;
	struct varint_reader u;

	duration_stats_reset(stats);
	if (!db_get(
		txn, TABLES_STATS, stats_key(key, partition, phase), &value))
		return;
	u = varint_reader_of(value);
	duration_stats_decode(stats, &u);
}

void
indexer_write_put_stats(struct indexer_write *indexer_write, struct db_txn *txn,
    uint32_t partition, uint32_t phase, const struct duration_stats *stats)
{
	unsigned char key[8];

	indexer_write->value.bytes = 0;
	duration_stats_encode(stats, &indexer_write->value);
	db_put(txn, TABLES_STATS, stats_key(key, partition, phase),
	    buffer_text(&indexer_write->value));
}

void
indexer_write_sum_phase(struct indexer_write *indexer_write, struct db_txn *txn,
    uint32_t partition, uint32_t phase, struct duration_stats *stats)
{
	struct db_cursor *cursor = db_cursor_open(txn, TABLES_PHASES);
	unsigned char prefix[8];
	struct text key, value;
	struct key_phase row;
	bool more;

	duration_stats_reset(stats);
	more =
	    db_seek(cursor, stats_key(prefix, partition, phase), &key, &value);
	while (more && key.bytes >= sizeof(prefix) &&
	       memcmp(key.at, prefix, sizeof(prefix)) == 0) {
		if (phase_row_get_key(key, &row) &&
		    phase_row_decode(&indexer_write->phase, value, row.scope))
			phase_row_sum(&indexer_write->phase, stats);
		more = db_next(cursor, &key, &value);
	}
	db_cursor_close(&cursor);
}

/* ---- one row ---- */

/* A changed page is a copy at an arbitrary address, so two values close
 * together are taken to be on one page.  The next unchanged page is in the
 * map, far away. */
static bool
is_local(const char *a, const char *b)
{
	uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;

	return (x > y ? x - y : y - x) < PAGE_BYTES;
}

/* Neighbouring rows share a page of the store: the page of the row written
 * last, or, for new rows, the one before the page that was found last. */
static void
count_page(struct indexer_write *indexer_write, const char *found)
{
	if (!is_local(found, indexer_write->put) &&
	    !is_local(found, indexer_write->found))
		indexer_write->pages++;
	indexer_write->found = found;
}

/* The row that events are being added to. */
struct open_row {
	struct key_phase phase;
	unsigned char key[PHASE_KEY_BYTES_MAX]; /* key_bytes 0: none is open */
	uint32_t key_bytes;
	unsigned char next[PHASE_KEY_BYTES_MAX]; /* of the row after it */
	uint32_t next_bytes;                     /* 0: it is the last one */
	bool next_known;
	bool foreign;   /* another key with the same hash */
	uint32_t bytes; /* of the stored value */
};

static struct text
key_of(const struct open_row *row)
{
	return (struct text){ (const char *)row->key, row->key_bytes };
}

static void
set_key(struct open_row *row, struct text key)
{
	memcpy(row->key, key.at, key.bytes);
	row->key_bytes = key.bytes;
}

static void
open_row(struct indexer_write *indexer_write, struct db_cursor *rows,
    const struct collect_role *role, struct open_row *row)
{
	struct phase_row *phase = &indexer_write->phase;
	struct text key = { NULL, 0 }, value;
	bool found = phase_row_find(
	    rows, &row->phase, phase_point_of(&role->entry), &key, &value);

	count_page(indexer_write, key.at);
	row->next_known = false;
	row->bytes = found ? value.bytes : 0;
	if (found) {
		set_key(row, key);
	} else {
		key_put_phase(row->key, &row->phase);
		row->key_bytes = KEY_PHASE_BYTES;
	}
	if (!found || !phase_row_decode(phase, value, row->phase.scope))
		phase_row_reset(phase, role->key, role->fifo);
	/* Once in 2^32 keys of a node. */
	row->foreign = !text_equal(phase->key, role->key);
	phase_sum_reset(&indexer_write->before);
	phase_sum_add(&indexer_write->before, phase->at, phase->count);
	indexer_write->rows_gone.bytes = 0;
}

/* Does a later event belong to the open row too? */
static bool
is_in(struct open_row *row, struct db_cursor *rows,
    const struct phase_entry *entry)
{
	struct text key = key_of(row), value;

	if (!row->next_known) {
		row->next_known = true;
		row->next_bytes = 0;
		if (phase_row_after(rows, &key, &value)) {
			memcpy(row->next, key.at, key.bytes);
			row->next_bytes = key.bytes;
		}
	}
	return row->next_bytes == 0 ||
	       !phase_row_is_from(
		   (struct text){ (const char *)row->next, row->next_bytes },
		   entry);
}

/* ---- neighbours that new pairs reach into ---- */

static void
note_gone(struct indexer_write *indexer_write, struct text key)
{
	const struct phase_row *other = &indexer_write->other_phase;

	phase_sum_add(&indexer_write->before, other->at, other->count);
	varint_put_text(&indexer_write->rows_gone, key);
}

static void
join_later(struct indexer_write *indexer_write, struct db_cursor *rows,
    const struct open_row *row)
{
	struct phase_row *phase = &indexer_write->phase;
	struct phase_row *other = &indexer_write->other_phase;
	struct text key = key_of(row), value;

	while ((phase->fifo ||
		   phase->at[phase->count - 1].partner == PAIRING_ALONE) &&
	       phase_row_after(rows, &key, &value) &&
	       phase_row_decode(other, value, row->phase.scope) &&
	       phase_row_is_crossed(phase, other)) {
		note_gone(indexer_write, key);
		phase_row_append(phase, other);
		phase_row_pair(phase, 0, phase->count);
	}
}

static void
join_earlier(struct indexer_write *indexer_write, struct db_cursor *rows,
    struct open_row *row)
{
	struct phase_row *phase = &indexer_write->phase;
	struct phase_row *other = &indexer_write->other_phase;
	struct text key = key_of(row), value;

	while (row->key_bytes > KEY_PHASE_BYTES &&
	       phase_row_before(rows, &key, &value) &&
	       phase_row_decode(other, value, row->phase.scope) &&
	       phase_row_is_crossed(other, phase)) {
		struct phase_row swap = *phase;

		note_gone(indexer_write, key_of(row));
		set_key(row, key);
		phase_row_append(other, phase);
		*phase = *other;
		*other = swap;
		phase_row_pair(phase, 0, phase->count);
	}
}

/* ---- writing a row ---- */

/* Encode the row, in several if it has become too long.  The events are views
 * of stored rows, which are valid until the first change of the table. */
static void
encode_row(struct indexer_write *indexer_write, const struct open_row *row)
{
	struct phase_row *phase = &indexer_write->phase;
	unsigned char bytes[PHASE_KEY_BYTES_MAX];
	struct text key = key_of(row);
	uint32_t done = 0, count;

	indexer_write->rows_out.bytes = 0;
	while (done < phase->count) {
		if (done > 0)
			key = phase_row_key(bytes, &row->phase, phase, done);
		phase_row_pair(phase, done, phase->count - done);
		count = phase_row_split(phase, done);
		phase_row_pair(phase, done, count);
		phase_sum_add(&indexer_write->after, phase->at + done, count);
		indexer_write->value.bytes = 0;
		phase_row_encode(phase, done, count, row->phase.scope,
		    &indexer_write->value);
		varint_put_text(&indexer_write->rows_out, key);
		varint_put_text(&indexer_write->rows_out,
		    buffer_text(&indexer_write->value));
		done += count;
	}
}

static void
put_rows(struct indexer_write *indexer_write, struct db_txn *txn,
    struct db_cursor *rows)
{
	struct varint_reader gone =
	    varint_reader_of(buffer_text(&indexer_write->rows_gone));
	struct varint_reader out =
	    varint_reader_of(buffer_text(&indexer_write->rows_out));

	while (gone.at < gone.end && !gone.bad)
		db_del(txn, TABLES_PHASES, varint_get_text(&gone));
	while (out.at < out.end && !out.bad) {
		struct text key = varint_get_text(&out);

		indexer_write->put =
		    db_cursor_put(rows, key, varint_get_text(&out));
	}
}

static void
close_row(struct indexer_write *indexer_write, struct db_txn *txn,
    struct db_cursor *rows, struct open_row *row)
{
	struct phase_row *phase = &indexer_write->phase;

	if (row->key_bytes == 0 || row->foreign || phase->count == 0)
		return;
	phase_row_pair(phase, 0, phase->count);
	join_later(indexer_write, rows, row);
	join_earlier(indexer_write, rows, row);
	phase_sum_reset(&indexer_write->after);
	encode_row(indexer_write, row);
	phase_sum_replace(indexer_write->stats, &indexer_write->before,
	    &indexer_write->after);
	put_rows(indexer_write, txn, rows);
	/* The old value is on a page that was counted. */
	if (indexer_write->rows_out.bytes > row->bytes)
		indexer_write->bytes +=
		    indexer_write->rows_out.bytes - row->bytes;
}

/* Add the events of one phase, node and key, which are in order. */
static void
put_events(struct indexer_write *indexer_write, struct db_txn *txn,
    struct db_cursor *rows, struct collect *collect, const struct group *group)
{
	struct open_row row = { .phase = match_key(group) };
	uint32_t member;

	for (member = group->first; member != GROUP_END;
	     member = group_next(&collect->states, member)) {
		const struct collect_role *role = &collect->role[member];

		if (row.key_bytes == 0 || !is_in(&row, rows, &role->entry)) {
			close_row(indexer_write, txn, rows, &row);
			open_row(indexer_write, rows, role, &row);
		}
		if (row.foreign || phase_row_insert(&indexer_write->phase,
				       &role->entry) == PHASE_OVERFLOW)
			indexer_write->overflow++;
	}
	close_row(indexer_write, txn, rows, &row);
}

/* ---- all rows ---- */

static int
compare(const void *left, const void *right, void *arg)
{
	const struct collect *collect = arg;

	return phase_compare(&collect->role[*(const uint32_t *)left].entry,
	    &collect->role[*(const uint32_t *)right].entry);
}

static void
finish_phase(struct indexer_write *indexer_write, struct db_txn *txn,
    uint32_t partition, uint32_t phase)
{
	/* A shortest or longest duration was removed: find the next one. */
	if (indexer_write->stats->loose)
		indexer_write_sum_phase(
		    indexer_write, txn, partition, phase, indexer_write->stats);
	indexer_write_put_stats(
	    indexer_write, txn, partition, phase, indexer_write->stats);
}

void
indexer_write_phases(struct indexer_write *indexer_write, struct db_txn *txn,
    struct collect *collect)
{
	struct db_cursor *rows = db_cursor_open(txn, TABLES_PHASES);
	uint32_t partition = 0, phase = 0, i;

	groups_sort(&collect->states);
	for (i = 0; i < collect->states.count; i++) {
		struct group *group = &collect->states.at[i];

		if (group->mixed)
			group_order(&collect->states, group, compare, collect);
		if (group->key[0] != partition || group->key[1] != phase) {
			if (partition != 0)
				finish_phase(
				    indexer_write, txn, partition, phase);
			partition = group->key[0];
			phase = group->key[1];
			indexer_write_get_stats(
			    txn, partition, phase, indexer_write->stats);
		}
		put_events(indexer_write, txn, rows, collect, group);
	}
	if (partition != 0)
		finish_phase(indexer_write, txn, partition, phase);
	db_cursor_close(&rows);
}
