/*
 * compacted_write - writing rows as the columns of a chunk.
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdlib.h>

#include "aggregator/rows/body_template.h"
#include "aggregator/rows/compacted_row.h"
#include "proto/base/memory.h"
#include "proto/hash/hash.h"

enum { COMPACTED_ROW_SLOTS = 4 * COMPACTED_ROW_ROWS_MAX };

struct compacted_row_template {
	size_t at; /* in `texts` */
	uint32_t bytes;
	uint32_t fields;
	uint32_t rows, first; /* in `order` */
};

/* A hash table with open addressing; an entry is a number + 1. */
struct compacted_row_seen {
	uint32_t slot[COMPACTED_ROW_SLOTS];
	/* The slots in use, so that clearing need not visit all of them. */
	uint32_t used[COMPACTED_ROW_ROWS_MAX];
	uint32_t count;
};

struct compacted_row_batch {
	uint32_t stream;
	uint64_t seq;
	int64_t receive_ns;
};

struct compacted_row_writer {
	struct chunk_writer *chunk;
	struct buffer value, texts;
	struct body_template_body body;
	struct hash_key key;
	struct compacted_row_seen seen;
	struct compacted_row_template template[COMPACTED_ROW_ROWS_MAX];
	uint32_t templates, columns;
	uint32_t row_template[COMPACTED_ROW_ROWS_MAX];
	/* Index of the first field of each row in body.field. */
	uint32_t row_field[COMPACTED_ROW_ROWS_MAX];
	uint32_t order[COMPACTED_ROW_ROWS_MAX];
	struct compacted_row_batch batch[COMPACTED_ROW_ROWS_MAX];
	uint32_t batches;
	int64_t ints[3][COMPACTED_ROW_ROWS_MAX];
	struct text text[COMPACTED_ROW_ROWS_MAX];
	struct value values[COMPACTED_ROW_ROWS_MAX];
};

static inline void
compacted_row_seen_reset(struct compacted_row_seen *seen)
{
	while (seen->count > 0)
		seen->slot[seen->used[--seen->count]] = 0;
}
static inline void
compacted_row_seen_add(
    struct compacted_row_seen *seen, uint32_t slot, uint32_t number)
{
	seen->slot[slot] = number + 1;
	seen->used[seen->count++] = slot;
}
static inline struct text
compacted_row_template_text(const struct compacted_row_writer *w,
    const struct compacted_row_template *template)
{
	return (struct text){ (const char *)w->texts.at + template->at,
		template->bytes };
}

enum {
	OFTEN = 16, /* from this many rows on a template pays off */
	TEMPLATES_MAX = 2048,
	FIELDS_MAX = CHUNK_COLUMNS_MAX - BODY_TEMPLATE_COLUMNS - 64,
};

/* The slot at which the search for a template begins. */
static uint32_t
slot_of(const struct compacted_row_writer *w, struct text text)
{
	return (uint32_t)hash_bytes(w->key, text.at, text.bytes) %
	       COMPACTED_ROW_SLOTS;
}

/* Returns the number of the template of w->body, a new one if `room` allows
 * it. */
static bool
template_number(struct compacted_row_writer *w, uint32_t fields, bool room,
    uint32_t *number)
{
	struct text text = buffer_text(&w->body.template);
	uint32_t at = slot_of(w, text);

	for (; w->seen.slot[at] != 0; at = (at + 1) % COMPACTED_ROW_SLOTS) {
		*number = w->seen.slot[at] - 1;
		if (text_equal(text,
			compacted_row_template_text(w, &w->template[*number])))
			return true;
	}
	if (!room)
		return false;
	*number = w->templates++;
	w->template[*number] = (struct compacted_row_template){
		.at = w->texts.bytes, .bytes = text.bytes, .fields = fields
	};
	buffer_put(&w->texts, text.at, text.bytes);
	compacted_row_seen_add(&w->seen, at, *number);
	return true;
}

static void
templates_reset(struct compacted_row_writer *w)
{
	compacted_row_seen_reset(&w->seen);
	w->templates = w->columns = 0;
	w->texts.bytes = 0;
}

static void
split_body(struct compacted_row_writer *w, enum record_kind kind,
    struct text body, uint32_t row, bool loosely)
{
	w->row_field[row] = w->body.fields;
	body_template_split(&w->body, kind, body, loosely);
}

/* Find all templates, and the number of rows of each. */
static void
count_templates(struct compacted_row_writer *w, enum record_kind kind,
    const struct compacted_row_item *items, uint32_t count)
{
	templates_reset(w);
	w->body.fields = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t number;

		split_body(w, kind, items[i].record.body, i, false);
		template_number(
		    w, w->body.fields - w->row_field[i], true, &number);
		w->template[number].rows++;
		w->row_template[i] = number;
	}
}

/* Choose for a row whose template is rare. */
static void
choose_template(struct compacted_row_writer *w, enum record_kind kind,
    struct text body, uint32_t row)
{
	uint32_t fields;
	bool room;

	split_body(w, kind, body, row, true);
	fields = w->body.fields - w->row_field[row];
	room = w->templates < TEMPLATES_MAX && w->columns + fields < FIELDS_MAX;
	if (template_number(w, fields, room, &w->row_template[row])) {
		if (w->template[w->row_template[row]].rows++ == 0)
			w->columns += fields;
		return;
	}
	w->body.fields = w->row_field[row];
	body_template_take_whole(&w->body, body);
	template_number(w, 1, true, &w->row_template[row]);
	if (w->template[w->row_template[row]].rows++ == 0)
		w->columns++;
}

/* Keep the templates with many rows, in their order. */
static void
select_templates(struct compacted_row_writer *w, uint32_t *number)
{
	uint32_t kept = 0;

	compacted_row_seen_reset(&w->seen);
	for (uint32_t i = 0; i < w->templates; i++) {
		struct compacted_row_template template = w->template[i];
		struct text text = compacted_row_template_text(w, &template);
		uint32_t at;

		number[i] = UINT32_MAX;
		if (template.rows < OFTEN || kept == TEMPLATES_MAX ||
		    w->columns + template.fields > FIELDS_MAX)
			continue;
		at = slot_of(w, text);
		while (w->seen.slot[at] != 0)
			at = (at + 1) % COMPACTED_ROW_SLOTS;
		compacted_row_seen_add(&w->seen, at, kept);
		w->columns += template.fields;
		number[i] = kept;
		w->template[kept++] = template;
	}
	w->templates = kept;
}

/* Find the templates of the items, and choose one for each row. */
static void
compacted_row_choose_templates(struct compacted_row_writer *w,
    enum record_kind kind, const struct compacted_row_item *items,
    uint32_t count)
{
	uint32_t *number = w->order;

	count_templates(w, kind, items, count);
	select_templates(w, number);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t kept = number[w->row_template[i]];

		if (kept != UINT32_MAX)
			w->row_template[i] = kept;
		else
			choose_template(w, kind, items[i].record.body, i);
	}
}

int
compacted_row_compare(enum record_kind kind, const struct compacted_row_item *a,
    const struct compacted_row_item *b)
{
	int order = key_compare_series(
	    (uint8_t)kind, a->node, a->track, b->node, b->track);

	return order != 0 ? order : row_block_compare(&a->record, &b->record);
}

struct compacted_row_writer *
compacted_row_writer_new(void)
{
	struct compacted_row_writer *w = memory_zero(1, sizeof(*w));

	w->chunk = chunk_writer_new();
	w->key = hash_key_random();
	return w;
}

void
compacted_row_writer_free(struct compacted_row_writer **writer)
{
	struct compacted_row_writer *w = *writer;

	*writer = NULL;
	if (w == NULL)
		return;
	chunk_writer_free(&w->chunk);
	buffer_clear(&w->value);
	buffer_clear(&w->texts);
	body_template_body_clear(&w->body);
	free(w);
}

/* ---- series blocks, times and batches ---- */

static void
put_series_blocks(struct compacted_row_writer *w,
    const struct compacted_row_item *items, uint32_t count)
{
	uint32_t series_blocks = 0, i;

	for (i = 0; i < count; i++) {
		if (i == 0 || items[i].node != items[i - 1].node ||
		    items[i].track != items[i - 1].track) {
			w->ints[0][series_blocks] = items[i].node;
			w->ints[1][series_blocks] = items[i].track;
			w->ints[2][series_blocks] = 0;
			series_blocks++;
		}
		w->ints[2][series_blocks - 1]++;
	}
	chunk_put_int(w->chunk, w->ints[0], series_blocks);
	chunk_put_int(w->chunk, w->ints[1], series_blocks);
	chunk_put_int(w->chunk, w->ints[2], series_blocks);
	for (i = 0; i < count; i++)
		w->ints[0][i] = items[i].record.time_ns;
	chunk_put_int(w->chunk, w->ints[0], count);
}

static int
compare_times(const void *left, const void *right, void *arg)
{
	const struct compacted_row_item *items = arg;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (items[a].record.time_ns != items[b].record.time_ns)
		return items[a].record.time_ns < items[b].record.time_ns ? -1
									 : 1;
	return a < b ? -1 : 1;
}

static uint32_t
batch_number(struct compacted_row_writer *w, const struct row_block_item *item)
{
	struct compacted_row_batch batch = { item->stream, item->seq,
		item->receive_ns };
	uint64_t mix = batch.seq * UINT64_C(0x9E3779B97F4A7C15) ^
		       (uint64_t)batch.receive_ns ^
		       (uint64_t)batch.stream << 40;
	uint32_t at = (uint32_t)((mix * UINT64_C(0xBF58476D1CE4E5B9)) >> 32) %
		      COMPACTED_ROW_SLOTS;

	for (; w->seen.slot[at] != 0; at = (at + 1) % COMPACTED_ROW_SLOTS) {
		const struct compacted_row_batch *b =
		    &w->batch[w->seen.slot[at] - 1];

		if (b->seq == batch.seq && b->stream == batch.stream &&
		    b->receive_ns == batch.receive_ns)
			return w->seen.slot[at] - 1;
	}
	w->batch[w->batches] = batch;
	compacted_row_seen_add(&w->seen, at, w->batches);
	return w->batches++;
}

/* Number the batches as they appear in `order`.  Returns the total size in
 * bits of the steps from one row's batch number to the next. */
static uint64_t
number_batches(struct compacted_row_writer *w,
    const struct compacted_row_item *items, uint32_t count)
{
	int64_t *batch = w->ints[0], *index = w->ints[1];
	uint64_t bits = 0;

	compacted_row_seen_reset(&w->seen);
	w->batches = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct row_block_item *item = &items[w->order[i]].record;

		batch[i] = batch_number(w, item);
		index[i] = item->index;
		if (i == 0)
			continue;
		bits += 128 -
			(unsigned)__builtin_clzll(
			    varint_delta(batch[i - 1], batch[i]) | 1) -
			(unsigned)__builtin_clzll(
			    varint_delta(index[i - 1] + 1, index[i]) | 1);
	}
	compacted_row_seen_reset(&w->seen);
	return bits;
}

/* Write the batches in row order, or in time order if that takes fewer bits:
 * it does when each batch has records of many nodes. */
static void
put_batches(struct compacted_row_writer *w,
    const struct compacted_row_item *items, uint32_t count)
{
	int64_t by_time = 1;
	uint64_t bits;
	uint32_t i;

	for (i = 0; i < count; i++)
		w->order[i] = i;
	bits = number_batches(w, items, count);
	qsort_r(w->order, count, sizeof(*w->order), compare_times,
	    (void *)(uintptr_t)items);
	if (number_batches(w, items, count) + count / 8 >= bits) {
		by_time = 0;
		for (i = 0; i < count; i++)
			w->order[i] = i;
		number_batches(w, items, count);
	}
	for (i = 0; i < w->batches; i++)
		w->ints[2][i] = w->batch[i].stream;
	chunk_put_int(w->chunk, w->ints[2], w->batches);
	for (i = 0; i < w->batches; i++)
		w->ints[2][i] = (int64_t)w->batch[i].seq;
	chunk_put_int(w->chunk, w->ints[2], w->batches);
	for (i = 0; i < w->batches; i++)
		w->ints[2][i] = w->batch[i].receive_ns;
	chunk_put_int(w->chunk, w->ints[2], w->batches);
	chunk_put_int(w->chunk, w->ints[0], count);
	chunk_put_int(w->chunk, w->ints[1], count);
	chunk_put_int(w->chunk, &by_time, 1);
}

/* ---- columns of fields ---- */

/* The steps of the fields of a template, in sequence. */
static enum body_template_step
next_field(struct varint_reader *u)
{
	for (;;) {
		enum body_template_step step =
		    (enum body_template_step)varint_get(u);

		if (step != BODY_TEMPLATE_BYTES)
			return step;
		varint_get_text(u);
	}
}

static void
put_column(struct compacted_row_writer *w, enum body_template_step step,
    const uint32_t *rows, uint32_t count, uint32_t field)
{
	for (uint32_t i = 0; i < count; i++) {
		struct text bytes =
		    w->body.field[w->row_field[rows[i]] + field];
		struct varint_reader u;

		switch (step) {
		case BODY_TEMPLATE_VALUE:
			record_next_value(&bytes, &w->values[i]);
			break;
		case BODY_TEMPLATE_VARINT:
			u = varint_reader_of(bytes);
			w->ints[0][i] = (int64_t)varint_get(&u);
			break;
		case BODY_TEMPLATE_ZIGZAG:
			u = varint_reader_of(bytes);
			w->ints[0][i] = varint_unzigzag(varint_get(&u));
			break;
		default: w->text[i] = bytes; break;
		}
	}
	if (step == BODY_TEMPLATE_VALUE)
		chunk_put_value(w->chunk, w->values, count);
	else if (step == BODY_TEMPLATE_RAW)
		chunk_put_text(w->chunk, w->text, count);
	else
		chunk_put_int(w->chunk, w->ints[0], count);
}

static void
put_bodies(struct compacted_row_writer *w, uint32_t count)
{
	uint32_t i, next = 0;

	for (i = 0; i < count; i++)
		w->ints[0][i] = w->row_template[i];
	chunk_put_int(w->chunk, w->ints[0], count);
	for (i = 0; i < w->templates; i++) {
		w->text[i] = compacted_row_template_text(w, &w->template[i]);
		w->template[i].first = next;
		next += w->template[i].rows;
		w->template[i].rows = 0;
	}
	assert(next == count);
	chunk_put_text(w->chunk, w->text, w->templates);
	for (i = 0; i < count; i++) {
		struct compacted_row_template *template =
		    &w->template[w->row_template[i]];

		w->order[template->first + template->rows++] = i;
	}
	for (i = 0; i < w->templates; i++) {
		const struct compacted_row_template *template = &w->template[i];
		struct varint_reader u =
		    varint_reader_of(compacted_row_template_text(w, template));

		for (uint32_t field = 0; field < template->fields; field++)
			put_column(w, next_field(&u),
			    &w->order[template->first], template->rows, field);
	}
}

/* ---- the chunk ---- */

static void
put_head(struct compacted_row_writer *w, const struct compacted_row_item *items,
    uint32_t count)
{
	int64_t least = items[0].record.time_ns, most = least;

	for (uint32_t i = 1; i < count; i++) {
		if (items[i].record.time_ns < least)
			least = items[i].record.time_ns;
		if (items[i].record.time_ns > most)
			most = items[i].record.time_ns;
	}
	w->value.bytes = 0;
	varint_put(&w->value, count);
	varint_put(&w->value, items[0].node);
	varint_put(&w->value, items[0].track);
	varint_put(&w->value, varint_zigzag(least));
	varint_put(&w->value, varint_delta(least, most));
	varint_put(&w->value, varint_delta(least, items[0].record.time_ns));
}

struct text
compacted_row_write(struct compacted_row_writer *w, enum record_kind kind,
    const struct compacted_row_item *items, uint32_t count)
{
	struct text chunk;

	assert(count > 0 && count <= COMPACTED_ROW_ROWS_MAX);
	chunk_begin(w->chunk);
	put_series_blocks(w, items, count);
	put_batches(w, items, count);
	compacted_row_choose_templates(w, kind, items, count);
	put_bodies(w, count);
	chunk = chunk_end(w->chunk);
	put_head(w, items, count);
	buffer_put(&w->value, chunk.at, chunk.bytes);
	return buffer_text(&w->value);
}
