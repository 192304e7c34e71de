/*
 * texts_read - reading the streams that texts.c writes.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/chunk/chunk_private.h"

#include <stdlib.h>

#include "proto/base/memory.h"

/* May the chunk unpack this many more bytes? */
static bool
admit(struct chunk_reader *r, uint64_t bytes)
{
	if (bytes > CHUNK_TEXT_BYTES_MAX - r->pooled)
		return false;
	r->pooled += bytes;
	return true;
}

static enum chunk_fault
read_plain(struct chunk_reader *r, struct varint_reader *u, struct text *to,
    uint32_t count)
{
	int64_t *lengths = chunk_ints_room(&r->ints, count);
	enum chunk_fault fault =
	    chunk_read_ints(r, u, lengths, count, UINT32_MAX);
	const unsigned char *at;
	uint64_t sum = 0;

	for (uint32_t i = 0; fault == CHUNK_OK && i < count; i++) {
		if (lengths[i] < 0 || lengths[i] > CHUNK_TEXT_BYTES_MAX)
			return CHUNK_LIMIT;
		sum += (uint64_t)lengths[i];
	}
	if (fault == CHUNK_OK && !admit(r, sum))
		return CHUNK_LIMIT;
	if (fault == CHUNK_OK)
		fault = chunk_read_blob(r, u, sum, chunk_pool_buffer(r), &at);
	for (uint32_t i = 0; fault == CHUNK_OK && i < count; i++) {
		to[i] = (struct text){ (const char *)at, (uint32_t)lengths[i] };
		at += lengths[i];
	}
	return fault;
}

static enum chunk_fault read_no_words(struct chunk_reader *r,
    struct varint_reader *u, struct text *to, uint32_t count);

/* Read one number below `limit` for each row into `number`. */
static enum chunk_fault
read_numbers(struct chunk_reader *r, struct varint_reader *u, int64_t *number,
    uint32_t count, uint32_t limit)
{
	enum chunk_fault fault =
	    chunk_read_ints(r, u, number, count, UINT32_MAX);

	for (uint32_t i = 0; fault == CHUNK_OK && i < count; i++)
		if (number[i] < 0 || number[i] >= limit)
			return CHUNK_DAMAGED;
	return fault;
}

static enum chunk_fault
read_words(struct chunk_reader *r, struct varint_reader *u, struct text *to,
    uint32_t count)
{
	uint32_t words = (uint32_t)varint_get_max(u, count);
	int64_t *number = chunk_ints_room(&r->wholes, count);
	struct text *word;
	enum chunk_fault fault;

	if (u->bad)
		return CHUNK_TRUNCATED;
	fault = read_numbers(r, u, number, count, words);
	if (fault != CHUNK_OK)
		return fault;
	word = memory_alloc((words + 1) * sizeof(*word));
	fault = read_no_words(r, u, word, words);
	for (uint32_t i = 0; fault == CHUNK_OK && i < count; i++)
		to[i] = word[number[i]];
	free(word);
	return fault;
}

/* ---- templates ---- */

struct text_template {
	struct text text;
	uint32_t rows;  /* rows with this template */
	uint32_t first; /* index of its first field in `values` */
	uint32_t at;    /* the next of its rows */
	unsigned fields;
};

struct templates {
	struct text_template *at;
	uint32_t count;
	int64_t *number; /* one for each row */
	int64_t *values; /* of all fields */
	struct buffer blob;
};

static unsigned char *
put_number(unsigned char *to, int64_t value, unsigned width)
{
	unsigned char digits[20];
	uint64_t rest = (uint64_t)value;
	unsigned n = 0;

	do {
		digits[sizeof(digits) - ++n] = (unsigned char)('0' + rest % 10);
		rest /= 10;
	} while (rest > 0);
	while (n < width)
		digits[sizeof(digits) - ++n] = '0';
	memcpy(to, digits + sizeof(digits) - n, n);
	return to + n;
}

/* Write the text of a row; the caller has made room for it. */
static unsigned char *
fill_in(struct templates *t, struct text_template *template, unsigned char *to)
{
	const char *from = template->text.at;
	const char *end = from + template->text.bytes;
	const int64_t *value = t->values + template->first + template->at++;

	while (from < end) {
		unsigned char c = (unsigned char)*from++;

		if (c == CHUNK_NUMBER) {
			to = put_number(to, *value, 0);
			value += template->rows;
		} else if (c == CHUNK_PADDED && from < end) {
			to = put_number(to, *value, (unsigned char)*from++);
			value += template->rows;
		} else {
			*to++ = c;
		}
	}
	return to;
}

/* Check the widths of a template and count its fields. */
static bool
check_template(struct text_template *template)
{
	const struct text t = template->text;

	for (uint32_t i = 0; i < t.bytes; i++) {
		if (t.at[i] != CHUNK_PADDED)
			continue;
		if (++i == t.bytes || (unsigned char)t.at[i] > CHUNK_DIGITS)
			return false;
	}
	template->fields = chunk_fields(t);
	return template->fields <= CHUNK_FIELDS;
}

static enum chunk_fault
read_template_list(struct chunk_reader *r, struct varint_reader *u,
    struct templates *t, uint32_t count)
{
	size_t bytes = varint_get_max(u, CHUNK_TEXT_BYTES_MAX);
	const unsigned char *at;
	enum chunk_fault fault;
	struct varint_reader list;
	uint64_t fields = 0, sum = 0;
	uint32_t i;

	if (u->bad || !admit(r, bytes))
		return CHUNK_LIMIT;
	fault = chunk_read_blob(r, u, bytes, &t->blob, &at);
	if (fault != CHUNK_OK)
		return fault;
	list = (struct varint_reader){ at, at + bytes, false };
	for (i = 0; i < t->count; i++) {
		t->at[i].text = varint_get_text(&list);
		if (list.bad || !check_template(&t->at[i]))
			return CHUNK_DAMAGED;
	}
	for (i = 0; i < count; i++)
		t->at[t->number[i]].rows++;
	for (i = 0; i < t->count; i++) {
		t->at[i].first = (uint32_t)fields;
		fields += (uint64_t)t->at[i].fields * t->at[i].rows;
		/* A number has at most 20 bytes. */
		sum += (uint64_t)t->at[i].rows *
		       (t->at[i].text.bytes + 20ull * t->at[i].fields);
	}
	/* No writer produces more: a field replaces at least one byte. */
	if (sum > 21ull * CHUNK_TEXT_BYTES_MAX)
		return CHUNK_LIMIT;
	t->values = memory_alloc((fields + 1) * sizeof(*t->values));
	return CHUNK_OK;
}

static enum chunk_fault
read_fields(
    struct chunk_reader *r, struct varint_reader *u, struct templates *t)
{
	enum chunk_fault fault = CHUNK_OK;

	for (uint32_t i = 0; i < t->count; i++) {
		struct text_template *template = &t->at[i];

		for (unsigned p = 0; fault == CHUNK_OK && p < template->fields;
		     p++)
			fault = chunk_read_ints(r, u,
			    t->values + template->first +
				(size_t)p * template->rows,
			    template->rows, UINT32_MAX);
	}
	return fault;
}

static enum chunk_fault
fill_in_all(struct chunk_reader *r, struct templates *t, struct text *to,
    uint32_t count)
{
	struct buffer *out = chunk_pool_buffer(r);
	int64_t *start = chunk_ints_room(&r->ints, count + 1);
	uint32_t i;

	for (i = 0; i < count; i++) {
		struct text_template *template = &t->at[t->number[i]];
		unsigned char *at = buffer_need(
		    out, template->text.bytes + 20 * (size_t) template->fields);
		unsigned char *end = fill_in(t, template, at);

		start[i] = (int64_t)out->bytes;
		out->bytes += (size_t)(end - at);
		if (out->bytes > CHUNK_TEXT_BYTES_MAX)
			return CHUNK_LIMIT;
	}
	start[count] = (int64_t)out->bytes;
	if (!admit(r, out->bytes))
		return CHUNK_LIMIT;
	for (i = 0; i < count; i++)
		to[i] = (struct text){ (const char *)out->at + start[i],
			(uint32_t)(start[i + 1] - start[i]) };
	return CHUNK_OK;
}

static enum chunk_fault
read_templates(struct chunk_reader *r, struct varint_reader *u, struct text *to,
    uint32_t count)
{
	struct templates t = { .at = NULL };
	enum chunk_fault fault;

	t.count = (uint32_t)varint_get_max(u, count);
	if (u->bad)
		return CHUNK_TRUNCATED;
	t.at = memory_zero(t.count + 1, sizeof(*t.at));
	t.number = chunk_ints_room(&r->ulps, count);
	fault = read_numbers(r, u, t.number, count, t.count);
	if (fault == CHUNK_OK)
		fault = read_template_list(r, u, &t, count);
	if (fault == CHUNK_OK)
		fault = read_fields(r, u, &t);
	if (fault == CHUNK_OK)
		fault = fill_in_all(r, &t, to, count);
	free(t.at);
	free(t.values);
	buffer_clear(&t.blob);
	return fault;
}

static enum chunk_fault
read_no_words(struct chunk_reader *r, struct varint_reader *u, struct text *to,
    uint32_t count)
{
	unsigned method;

	if (count == 0)
		return CHUNK_OK;
	method = u->at < u->end ? *u->at++ : 255;
	if (method == CHUNK_TEMPLATES)
		return read_templates(r, u, to, count);
	return method == CHUNK_BYTES ? read_plain(r, u, to, count)
				     : CHUNK_METHOD;
}

/* ---- texts that an earlier column has ---- */

/* Read the column that others refer to, which refers to none. */
static enum chunk_fault
read_earlier(struct chunk_reader *r, uint32_t column)
{
	const struct chunk_column *from = &r->column[column];
	struct varint_reader u = chunk_column_unpack(from);
	enum chunk_fault fault;

	if (r->texts_column == column + 1)
		return CHUNK_OK;
	if (from->type != CHUNK_TEXT &&
	    (from->type != CHUNK_VALUE || varint_get(&u) != VALUE_TEXT))
		return CHUNK_DAMAGED;
	if (u.bad || u.at == u.end || *u.at++ != CHUNK_BYTES)
		return CHUNK_DAMAGED;
	r->texts_column = 0;
	r->texts = memory_resize(
	    r->texts, ((size_t)from->count + 1) * sizeof(*r->texts));
	fault = read_plain(r, &u, r->texts, from->count);
	if (fault == CHUNK_OK) {
		r->texts_count = from->count;
		r->texts_column = column + 1;
	}
	return fault;
}

static enum chunk_fault
read_same(struct chunk_reader *r, struct varint_reader *u, struct text *to,
    uint32_t count, uint32_t column)
{
	uint32_t back = varint_get_u32(u), fresh = 0, n = 0;
	int64_t *place = chunk_ints_room(&r->wholes, count);
	enum chunk_fault fault;
	struct text *others;

	if (column == UINT32_MAX || back == 0 || back > column)
		return CHUNK_DAMAGED;
	fault = read_earlier(r, column - back);
	if (fault == CHUNK_OK)
		fault = read_numbers(r, u, place, count, r->texts_count + 1);
	if (fault != CHUNK_OK)
		return fault;
	for (uint32_t i = 0; i < count; i++)
		fresh += place[i] == 0;
	others = memory_alloc(((size_t)fresh + 1) * sizeof(*others));
	fault = read_no_words(r, u, others, fresh);
	for (uint32_t i = 0; fault == CHUNK_OK && i < count; i++)
		to[i] = place[i] == 0 ? others[n++] : r->texts[place[i] - 1];
	free(others);
	return fault;
}

enum chunk_fault
chunk_read_texts(struct chunk_reader *r, struct varint_reader *u,
    struct text *to, uint32_t count, uint32_t column)
{
	if (count > 0 && u->at < u->end && *u->at == CHUNK_SAME) {
		u->at++;
		return read_same(r, u, to, count, column);
	}
	if (count > 0 && u->at < u->end && *u->at == CHUNK_WORDS) {
		u->at++;
		return read_words(r, u, to, count);
	}
	return read_no_words(r, u, to, count);
}
