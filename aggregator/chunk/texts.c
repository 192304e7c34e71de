/*
 * texts - streams of texts.
 *
 * Texts that repeat become a list of words and a stream of word numbers.
 * Other texts are divided at their digits, as CLP does with log lines
 * (Rodrigues et al., OSDI 2021): the constant part is a template, of which
 * there are few, and each of its fields is a stream of integers.  Texts that
 * suit neither encoding are stored as their concatenated bytes.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/chunk/chunk_private.h"

#include <assert.h>
#include <stdlib.h>

#include "proto/hash/hash.h"
#include "proto/base/memory.h"

enum {
	WORD_REPEATS = 3, /* mean uses of a word from which words pay off */
	TEMPLATE_REPEATS = 16,
};

/* Distinct texts, numbered in order of appearance; the texts are not copied. */
struct chunk_words {
	struct text *word;
	uint32_t words, room;
	uint32_t *slot; /* number of the word + 1; 0: empty */
	uint32_t slots;
	struct hash_key key;

	struct chunk_ints number; /* one for each row */
	/* One for each row: its first field in `fields`. */
	struct chunk_ints start;
	struct buffer fields; /* int64_t, the fields of all rows in sequence */
	struct buffer templates;
	struct buffer lengths;
};

static struct chunk_words *
words_of(struct chunk_writer *w)
{
	if (w->words == NULL) {
		w->words = memory_zero(1, sizeof(*w->words));
		w->words->key = hash_key_random();
	}
	return w->words;
}

void
chunk_words_free(struct chunk_words **old)
{
	struct chunk_words *words = *old;

	*old = NULL;
	if (words == NULL)
		return;
	free(words->word);
	free(words->slot);
	free(words->number.at);
	free(words->start.at);
	buffer_clear(&words->fields);
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
		words->slot = memory_alloc(slots * sizeof(*words->slot));
		words->slots = slots;
	}
	if (most > words->room) {
		free(words->word);
		words->word = memory_alloc(most * sizeof(*words->word));
		words->room = most;
	}
	memset(words->slot, 0, words->slots * sizeof(*words->slot));
	words->words = 0;
}

/* The number of a text; equal to the old `words` if it was added. */
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
write_method(struct chunk_writer *w, enum chunk_text method)
{
	unsigned char tag = (unsigned char)method;

	buffer_put(&w->body, &tag, 1);
}

static void
write_plain(struct chunk_writer *w, const struct text *values, uint32_t count)
{
	int64_t *lengths = chunk_ints_room(&w->wholes, count);
	uint32_t i;

	write_method(w, CHUNK_BYTES);
	w->blob.bytes = 0;
	for (i = 0; i < count; i++) {
		lengths[i] = values[i].bytes;
		buffer_put(&w->blob, values[i].at, values[i].bytes);
	}
	chunk_write_ints(w, lengths, count, false);
	chunk_write_blob(w, w->blob.at, w->blob.bytes);
}

/* ---- words ---- */

/* False: too many distinct texts. */
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

static void
write_words(struct chunk_writer *w, uint32_t count)
{
	struct chunk_words *words = w->words;
	uint32_t found = words->words;
	struct text *list = memory_alloc(found * sizeof(*list));

	memcpy(list, words->word, found * sizeof(*list));
	write_method(w, CHUNK_WORDS);
	varint_put(&w->body, found);
	chunk_write_ints(w, words->number.at, count, false);
	chunk_write_no_words(w, list, found);
	free(list);
}

/* ---- templates ---- */

static bool
is_digit(unsigned char c)
{
	return c >= '0' && c <= '9';
}

/* Returns the number of digits at `at` and stores what they read as in
 * `*value`. */
static uint32_t
digits_at(struct text text, uint32_t at, int64_t *value)
{
	uint32_t n = 0;

	*value = 0;
	while (
	    at + n < text.bytes && is_digit((unsigned char)text.at[at + n])) {
		if (n < CHUNK_DIGITS)
			*value = *value * 10 + (text.at[at + n] - '0');
		n++;
	}
	return n;
}

/* Append the template of a text to `to` and its numbers to `fields`.  False:
 * the text contains a byte that is reserved in templates. */
static bool
split_text(struct text text, struct buffer *to, struct buffer *fields)
{
	unsigned char *out = buffer_need(to, 2 * (size_t)text.bytes);
	unsigned found = 0;
	uint32_t i = 0;

	while (i < text.bytes) {
		unsigned char c = (unsigned char)text.at[i];
		uint32_t n = 1;
		int64_t value;

		if (c == CHUNK_NUMBER || c == CHUNK_PADDED)
			return false;
		if (is_digit(c))
			n = digits_at(text, i, &value);
		if (!is_digit(c) || n > CHUNK_DIGITS || found == CHUNK_FIELDS) {
			memcpy(out, text.at + i, n);
			out += n;
		} else {
			*out++ =
			    c == '0' && n > 1 ? CHUNK_PADDED : CHUNK_NUMBER;
			if (out[-1] == CHUNK_PADDED)
				*out++ = (unsigned char)n;
			buffer_put(fields, &value, sizeof(value));
			found++;
		}
		i += n;
	}
	to->bytes = (size_t)(out - to->at);
	return true;
}

unsigned chunk_fields(struct text template)
{
	unsigned fields = 0;

	for (uint32_t i = 0; i < template.bytes; i++) {
		fields += template.at[i] == CHUNK_NUMBER ||
			  template.at[i] == CHUNK_PADDED;
		i += template.at[i] == CHUNK_PADDED; /* the width */
	}
	return fields;
}

/* False: too many templates, or a text that has none. */
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
	words->fields.bytes = words->templates.bytes = 0;
	buffer_need(&words->templates, bytes); /* so that views stay valid */
	for (i = 0; i < count; i++) {
		size_t from = words->templates.bytes;
		uint32_t before = words->words;
		struct text template;

		start[i] = (int64_t)(words->fields.bytes / sizeof(int64_t));
		if (!split_text(values[i], &words->templates, &words->fields))
			return false;
		template =
		    (struct text){ (const char *)words->templates.at + from,
			    (uint32_t)(words->templates.bytes - from) };
		number[i] = words_number(words, template);
		if (words->words > most)
			return false;
		if (words->words == before) /* already known: drop the copy */
			words->templates.bytes = from;
	}
	return true;
}

/* Write one field of one template, for all rows that use the template. */
static void
write_field(
    struct chunk_writer *w, uint32_t count, uint32_t template, unsigned field)
{
	struct chunk_words *words = w->words;
	int64_t *values = chunk_ints_room(&w->wholes, count);
	uint32_t n = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (words->number.at[i] != template)
			continue;
		memcpy(&values[n++],
		    words->fields.at +
			((size_t)words->start.at[i] + field) * sizeof(int64_t),
		    sizeof(int64_t));
	}
	chunk_write_ints(w, values, n, false);
}

static void
write_templates(struct chunk_writer *w, uint32_t count)
{
	struct chunk_words *words = w->words;
	uint32_t i;

	write_method(w, CHUNK_TEMPLATES);
	varint_put(&w->body, words->words);
	chunk_write_ints(w, words->number.at, count, false);
	w->blob.bytes = 0;
	for (i = 0; i < words->words; i++)
		varint_put_text(&w->blob, words->word[i]);
	varint_put(&w->body, w->blob.bytes);
	chunk_write_blob(w, w->blob.at, w->blob.bytes);
	for (i = 0; i < words->words; i++) {
		unsigned fields = chunk_fields(words->word[i]);

		for (unsigned field = 0; field < fields; field++)
			write_field(w, count, i, field);
	}
}

void
chunk_write_no_words(
    struct chunk_writer *w, const struct text *values, uint32_t count)
{
	if (count == 0)
		return;
	if (find_templates(words_of(w), values, count))
		write_templates(w, count);
	else
		write_plain(w, values, count);
}

void
chunk_write_texts(struct chunk_writer *w, const struct text *values,
    uint32_t count, bool refer)
{
	if (count == 0)
		return;
	if (find_words(words_of(w), values, count)) {
		write_words(w, count);
	} else if (find_templates(words_of(w), values, count)) {
		write_templates(w, count);
	} else if (!refer || !chunk_write_same(w, values, count)) {
		write_plain(w, values, count);
		if (refer)
			chunk_note_texts(w, values, count);
	}
}
