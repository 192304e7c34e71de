/*
 * body_choice - choose a template for each row of a chunk.
 *
 * A template that many rows share is chosen first.  A row whose template is
 * rare is split once more with its names as fields, so that more rows can
 * share one template.  If there are still too many templates, the row is
 * stored whole.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rows/compacted_write_private.h"

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

void
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
