/*
 * chunk - streams of texts.
 *
 * Texts that repeat become a list of words and a stream of numbers.  Others
 * are taken apart at their runs of digits, as log lines are by CLP (Rodrigues
 * et al., OSDI 2021): what stays is a template, of which there are few, and
 * each of its places is a stream of integers.  What fits neither is the bytes
 * of all, one after another.
 * SPDX-License-Identifier: MIT
 */
#include "proto/chunk_core.h"

#include <assert.h>
#include <stdlib.h>

#include "proto/hash.h"

/* The first byte of a stream. */
enum method { PLAIN, WORDS, TEMPLATES };

enum {
	/* in a template: a number; one with zeros before it, up to the width
	 * that the next byte says */
	NUMBER = 1,
	PADDED = 2,
	PLACES = 16,      /* of a template */
	DIGITS_MAX = 18,  /* of a number */
	WORD_REPEATS = 3, /* on average, or they are no words */
	TEMPLATE_REPEATS = 16,
};

/* Texts and their numbers in order of appearance; not copied. */
struct chunk_words {
	struct text *word;
	uint32_t words, room;
	uint32_t *slot; /* number + 1 */
	uint32_t slots;
	struct hash_key key;

	struct chunk_ints number; /* of each row */
	struct chunk_ints start;  /* of each row, in `places` */
	struct buffer places;     /* int64_t, row after row */
	struct buffer templates;
	struct buffer lengths;
};

static struct chunk_words *
words_of(struct chunk_writer *w)
{
	if (w->words == NULL) {
		w->words = calloc(1, sizeof(*w->words));
		if (w->words == NULL)
			abort();
		w->words->key = hash_key_random();
	}
	return w->words;
}

void
chunk_words_free(struct chunk_words **gone)
{
	struct chunk_words *words = *gone;

	*gone = NULL;
	if (words == NULL)
		return;
	free(words->word);
	free(words->slot);
	free(words->number.at);
	free(words->start.at);
	buffer_clear(&words->places);
	buffer_clear(&words->templates);
	buffer_clear(&words->lengths);
	free(words);
}

static void
words_reset(struct chunk_words *words, uint32_t most)
{
	uint32_t slots = 64;

	while (slots < 2 * most)
		slots *= 2;
	if (slots > words->slots) {
		free(words->slot);
		words->slot = malloc(slots * sizeof(*words->slot));
		words->slots = slots;
	}
	if (most > words->room) {
		free(words->word);
		words->word = malloc(most * sizeof(*words->word));
		words->room = most;
	}
	if (words->slot == NULL || (most > 0 && words->word == NULL))
		abort();
	memset(words->slot, 0, words->slots * sizeof(*words->slot));
	words->words = 0;
}

/* The number of a text, `words` when it was added. */
static uint32_t
words_number(struct chunk_words *words, struct text text)
{
	uint32_t mask = words->slots - 1;
	uint32_t at =
	    (uint32_t)hash_bytes(words->key, text.at, text.bytes) & mask;

	while (words->slot[at] != 0) {
		if (text_equal(words->word[words->slot[at] - 1], text))
			return words->slot[at] - 1;
		at = (at + 1) & mask;
	}
	words->word[words->words] = text;
	words->slot[at] = ++words->words;
	return words->words - 1;
}

/* ---- plain ---- */

static void
write_method(struct chunk_writer *w, enum method method)
{
	unsigned char head = (unsigned char)method;

	put_bytes(&w->body, &head, 1);
}

static void
write_plain(struct chunk_writer *w, const struct text *values, uint32_t count)
{
	int64_t *lengths = chunk_ints_room(&w->wholes, count);
	uint32_t i;

	write_method(w, PLAIN);
	w->blob.bytes = 0;
	for (i = 0; i < count; i++) {
		lengths[i] = values[i].bytes;
		put_bytes(&w->blob, values[i].at, values[i].bytes);
	}
	chunk_write_ints(w, lengths, count, false);
	chunk_write_blob(w, w->blob.at, w->blob.bytes);
}

/* ---- words ---- */

/* False: too many different ones. */
static bool
find_words(struct chunk_words *words, const struct text *values, uint32_t count)
{
	uint32_t most = count / WORD_REPEATS + 1, i;
	int64_t *number = chunk_ints_room(&words->number, count);

	words_reset(words, most + 1);
	for (i = 0; i < count; i++) {
		number[i] = words_number(words, values[i]);
		if (words->words > most)
			return false;
	}
	return true;
}

static void write_no_words(
    struct chunk_writer *w, const struct text *values, uint32_t count);

static void
write_words(struct chunk_writer *w, uint32_t count)
{
	struct chunk_words *words = w->words;
	uint32_t found = words->words;
	struct text *list = malloc(found * sizeof(*list));

	if (list == NULL)
		abort();
	memcpy(list, words->word, found * sizeof(*list));
	write_method(w, WORDS);
	put_varint(&w->body, found);
	chunk_write_ints(w, words->number.at, count, false);
	write_no_words(w, list, found);
	free(list);
}

/* ---- templates ---- */

static bool
is_digit(unsigned char c)
{
	return c >= '0' && c <= '9';
}

/* The digits at `at`: how many; `*value` what they say. */
static uint32_t
digits_at(struct text text, uint32_t at, int64_t *value)
{
	uint32_t n = 0;

	*value = 0;
	while (
	    at + n < text.bytes && is_digit((unsigned char)text.at[at + n])) {
		if (n < DIGITS_MAX)
			*value = *value * 10 + (text.at[at + n] - '0');
		n++;
	}
	return n;
}

/* Append the template of a text to `to`, its numbers to `places`.  False: it
 * has a byte that means something in templates. */
static bool
take_apart(struct text text, struct buffer *to, struct buffer *places)
{
	unsigned char *out = buffer_need(to, 2 * (size_t)text.bytes);
	unsigned found = 0;
	uint32_t i = 0;

	while (i < text.bytes) {
		unsigned char c = (unsigned char)text.at[i];
		uint32_t n = 1;
		int64_t value;

		if (c == NUMBER || c == PADDED)
			return false;
		if (is_digit(c))
			n = digits_at(text, i, &value);
		if (!is_digit(c) || n > DIGITS_MAX || found == PLACES) {
			memcpy(out, text.at + i, n);
			out += n;
		} else {
			*out++ = c == '0' && n > 1 ? PADDED : NUMBER;
			if (out[-1] == PADDED)
				*out++ = (unsigned char)n;
			put_bytes(places, &value, sizeof(value));
			found++;
		}
		i += n;
	}
	to->bytes = (size_t)(out - to->at);
	return true;
}

static unsigned count_places(struct text template)
{
	unsigned places = 0;

	for (uint32_t i = 0; i < template.bytes; i++) {
		places += template.at[i] == NUMBER || template.at[i] == PADDED;
		i += template.at[i] == PADDED; /* the width */
	}
	return places;
}

/* False: too many templates, or none are possible. */
static bool
find_templates(
    struct chunk_words *words, const struct text *values, uint32_t count)
{
	uint32_t most = count / TEMPLATE_REPEATS, i;
	int64_t *number = chunk_ints_room(&words->number, count);
	int64_t *start = chunk_ints_room(&words->start, count);
	size_t bytes = 0;

	for (i = 0; i < count; i++)
		bytes += 2 * (size_t)values[i].bytes;
	words_reset(words, most + 1);
	words->places.bytes = words->templates.bytes = 0;
	buffer_need(&words->templates, bytes); /* so that views stay */
	for (i = 0; i < count; i++) {
		size_t from = words->templates.bytes;
		uint32_t before = words->words;
		struct text template;

		start[i] = (int64_t)(words->places.bytes / sizeof(int64_t));
		if (!take_apart(values[i], &words->templates, &words->places))
			return false;
		template =
		    (struct text){ (const char *)words->templates.at + from,
			    (uint32_t)(words->templates.bytes - from) };
		number[i] = words_number(words, template);
		if (words->words > most)
			return false;
		if (words->words == before) /* known: not needed again */
			words->templates.bytes = from;
	}
	return true;
}

/* One place of one template, over all rows that have it. */
static void
write_place(
    struct chunk_writer *w, uint32_t count, uint32_t template, unsigned place)
{
	struct chunk_words *words = w->words;
	int64_t *values = chunk_ints_room(&w->wholes, count);
	uint32_t n = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (words->number.at[i] != template)
			continue;
		memcpy(&values[n++],
		    words->places.at +
			((size_t)words->start.at[i] + place) * sizeof(int64_t),
		    sizeof(int64_t));
	}
	chunk_write_ints(w, values, n, false);
}

static void
write_templates(struct chunk_writer *w, uint32_t count)
{
	struct chunk_words *words = w->words;
	uint32_t i;

	write_method(w, TEMPLATES);
	put_varint(&w->body, words->words);
	chunk_write_ints(w, words->number.at, count, false);
	w->blob.bytes = 0;
	for (i = 0; i < words->words; i++)
		put_text(&w->blob, words->word[i]);
	put_varint(&w->body, w->blob.bytes);
	chunk_write_blob(w, w->blob.at, w->blob.bytes);
	for (i = 0; i < words->words; i++) {
		unsigned places = count_places(words->word[i]);

		for (unsigned place = 0; place < places; place++)
			write_place(w, count, i, place);
	}
}

static void
write_no_words(
    struct chunk_writer *w, const struct text *values, uint32_t count)
{
	if (find_templates(words_of(w), values, count))
		write_templates(w, count);
	else
		write_plain(w, values, count);
}

void
chunk_write_texts(
    struct chunk_writer *w, const struct text *values, uint32_t count)
{
	if (count == 0)
		return;
	if (find_words(words_of(w), values, count))
		write_words(w, count);
	else
		write_no_words(w, values, count);
}

/* ---- reading ---- */

struct chunk_pool {
	struct buffer *at;
	uint32_t used, count;
};

struct buffer *
chunk_pool_buffer(struct chunk_reader *r)
{
	struct chunk_pool *pool = r->pool;

	if (pool == NULL) {
		pool = r->pool = calloc(1, sizeof(*pool));
		if (pool == NULL)
			abort();
	}
	if (pool->used == pool->count) {
		pool->count = pool->count ? 2 * pool->count : 8;
		pool->at = realloc(pool->at, pool->count * sizeof(*pool->at));
		if (pool->at == NULL)
			abort();
		memset(pool->at + pool->used, 0,
		    (pool->count - pool->used) * sizeof(*pool->at));
	}
	pool->at[pool->used].bytes = 0;
	return &pool->at[pool->used++];
}

void
chunk_pool_reset(struct chunk_reader *r)
{
	if (r->pool != NULL)
		r->pool->used = 0;
	r->pooled = 0;
}

void
chunk_pool_free(struct chunk_pool **gone)
{
	struct chunk_pool *pool = *gone;

	*gone = NULL;
	if (pool == NULL)
		return;
	for (uint32_t i = 0; i < pool->count; i++)
		buffer_clear(&pool->at[i]);
	free(pool->at);
	free(pool);
}

/* May the chunk unpack so many bytes more? */
static bool
admit(struct chunk_reader *r, uint64_t bytes)
{
	if (bytes > CHUNK_TEXT_BYTES_MAX - r->pooled)
		return false;
	r->pooled += bytes;
	return true;
}

static enum chunk_fault
read_plain(
    struct chunk_reader *r, struct unpack *u, struct text *to, uint32_t count)
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

static enum chunk_fault read_no_words(
    struct chunk_reader *r, struct unpack *u, struct text *to, uint32_t count);

/* Numbers below `limit`, one a row, into `number`. */
static enum chunk_fault
read_numbers(struct chunk_reader *r, struct unpack *u, int64_t *number,
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
read_words(
    struct chunk_reader *r, struct unpack *u, struct text *to, uint32_t count)
{
	uint32_t words = (uint32_t)get_varint_max(u, count);
	int64_t *number = chunk_ints_room(&r->wholes, count);
	struct text *word;
	enum chunk_fault fault;

	if (u->bad)
		return CHUNK_TRUNCATED;
	fault = read_numbers(r, u, number, count, words);
	if (fault != CHUNK_OK)
		return fault;
	word = malloc((words + 1) * sizeof(*word));
	if (word == NULL)
		abort();
	fault = read_no_words(r, u, word, words);
	for (uint32_t i = 0; fault == CHUNK_OK && i < count; i++)
		to[i] = word[number[i]];
	free(word);
	return fault;
}

/* ---- templates ---- */

struct template
{
	struct text text;
	uint32_t rows;  /* that have it */
	uint32_t first; /* its places begin there in `values` ... */
	uint32_t at;    /* ... and that row of it is next */
	unsigned places;
};

struct templates {
	struct template *at;
	uint32_t count;
	int64_t *number; /* of each row */
	int64_t *values; /* of all places */
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

/* Write a row's text; room was made for it. */
static unsigned char *
fill_in(struct templates *t, struct template *template, unsigned char *to)
{
	const char *from = template->text.at;
	const char *end = from + template->text.bytes;
	const int64_t *value = t->values + template->first + template->at++;

	while (from < end) {
		unsigned char c = (unsigned char)*from++;

		if (c == NUMBER) {
			to = put_number(to, *value, 0);
			value += template->rows;
		} else if (c == PADDED && from < end) {
			to = put_number(to, *value, (unsigned char)*from++);
			value += template->rows;
		} else {
			*to++ = c;
		}
	}
	return to;
}

/* Are the widths possible?  And how many places are there? */
static bool
check_template(struct template *template)
{
	const struct text t = template->text;

	for (uint32_t i = 0; i < t.bytes; i++) {
		if (t.at[i] != PADDED)
			continue;
		if (++i == t.bytes || (unsigned char)t.at[i] > DIGITS_MAX)
			return false;
	}
	template->places = count_places(t);
	return template->places <= PLACES;
}

static enum chunk_fault
read_template_list(struct chunk_reader *r, struct unpack *u,
    struct templates *t, uint32_t count)
{
	size_t bytes = get_varint_max(u, CHUNK_TEXT_BYTES_MAX);
	const unsigned char *at;
	enum chunk_fault fault;
	struct unpack list;
	uint64_t places = 0, sum = 0;
	uint32_t i;

	if (u->bad || !admit(r, bytes))
		return CHUNK_LIMIT;
	fault = chunk_read_blob(r, u, bytes, &t->blob, &at);
	if (fault != CHUNK_OK)
		return fault;
	list = (struct unpack){ at, at + bytes, false };
	for (i = 0; i < t->count; i++) {
		t->at[i].text = get_text(&list);
		if (list.bad || !check_template(&t->at[i]))
			return CHUNK_DAMAGED;
	}
	for (i = 0; i < count; i++)
		t->at[t->number[i]].rows++;
	for (i = 0; i < t->count; i++) {
		t->at[i].first = (uint32_t)places;
		places += (uint64_t)t->at[i].places * t->at[i].rows;
		/* A number has at most 20 bytes. */
		sum += (uint64_t)t->at[i].rows *
		       (t->at[i].text.bytes + 20ull * t->at[i].places);
	}
	/* More than that no writer makes: places are at least a byte each. */
	if (sum > 21ull * CHUNK_TEXT_BYTES_MAX)
		return CHUNK_LIMIT;
	t->values = malloc((places + 1) * sizeof(*t->values));
	if (t->values == NULL)
		abort();
	return CHUNK_OK;
}

static enum chunk_fault
read_places(struct chunk_reader *r, struct unpack *u, struct templates *t)
{
	enum chunk_fault fault = CHUNK_OK;

	for (uint32_t i = 0; i < t->count; i++) {
		struct template *template = &t->at[i];

		for (unsigned p = 0; fault == CHUNK_OK && p < template->places;
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
		struct template *template = &t->at[t->number[i]];
		unsigned char *at = buffer_need(
		    out, template->text.bytes + 20 * (size_t) template->places);
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
read_templates(
    struct chunk_reader *r, struct unpack *u, struct text *to, uint32_t count)
{
	struct templates t = { .at = NULL };
	enum chunk_fault fault;

	t.count = (uint32_t)get_varint_max(u, count);
	if (u->bad)
		return CHUNK_TRUNCATED;
	t.at = calloc(t.count + 1, sizeof(*t.at));
	if (t.at == NULL)
		abort();
	t.number = chunk_ints_room(&r->ulps, count);
	fault = read_numbers(r, u, t.number, count, t.count);
	if (fault == CHUNK_OK)
		fault = read_template_list(r, u, &t, count);
	if (fault == CHUNK_OK)
		fault = read_places(r, u, &t);
	if (fault == CHUNK_OK)
		fault = fill_in_all(r, &t, to, count);
	free(t.at);
	free(t.values);
	buffer_clear(&t.blob);
	return fault;
}

static enum chunk_fault
read_no_words(
    struct chunk_reader *r, struct unpack *u, struct text *to, uint32_t count)
{
	unsigned method;

	if (count == 0)
		return CHUNK_OK;
	method = u->at < u->end ? *u->at++ : 255;
	if (method == TEMPLATES)
		return read_templates(r, u, to, count);
	return method == PLAIN ? read_plain(r, u, to, count) : CHUNK_METHOD;
}

enum chunk_fault
chunk_read_texts(
    struct chunk_reader *r, struct unpack *u, struct text *to, uint32_t count)
{
	if (count > 0 && u->at < u->end && *u->at == WORDS) {
		u->at++;
		return read_words(r, u, to, count);
	}
	return read_no_words(r, u, to, count);
}
