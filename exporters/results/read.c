/*
 * result_read - read results of benchmarks from a store; their ids.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/results/read.h"

#include <assert.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/results/result_file.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"

enum { NAME_HASH_BYTES = 12, TIME_DIGITS = 16, NUMBER_DIGITS = 5 };

static const char hex[] = "0123456789abcdef";

void
result_id_name(char to[static 25], struct text test, struct text entry)
{
	crypto_generichash_state state;
	unsigned char hash[crypto_generichash_BYTES_MIN];
	/* The length prefix keeps two pairs from being the same text. */
	const unsigned char length[] = { (unsigned char)test.bytes,
		(unsigned char)(test.bytes >> 8),
		(unsigned char)(test.bytes >> 16),
		(unsigned char)(test.bytes >> 24) };

	crypto_generichash_init(&state, NULL, 0, sizeof(hash));
	crypto_generichash_update(&state, length, sizeof(length));
	crypto_generichash_update(
	    &state, (const unsigned char *)test.at, test.bytes);
	crypto_generichash_update(
	    &state, (const unsigned char *)entry.at, entry.bytes);
	crypto_generichash_final(&state, hash, sizeof(hash));
	*text_hex(to, hash, NAME_HASH_BYTES) = '\0';
}

void
result_id_entry(char to[static RESULT_ID_BYTES],
    const char run[static RESULT_ID_RUN_BYTES], struct text test,
    struct text entry, uint32_t number)
{
	char *at = to + RESULT_ID_RUN_BYTES;

	result_id_name(to, test, entry);
	memcpy(to + RESULT_ID_NAME_BYTES, run + RESULT_ID_NAME_BYTES,
	    RESULT_ID_RUN_BYTES - RESULT_ID_NAME_BYTES);
	*at++ = '/';
	for (int i = NUMBER_DIGITS - 1; i >= 0; i--)
		*at++ = hex[number >> 4 * i & 15];
	*at = '\0';
}

void
result_id_time(char to[static 17], int64_t start_us)
{
	/* Flip the sign to order as unsigned numbers, then all bits to reverse
	 * the order. */
	uint64_t digits = ~((uint64_t)start_us ^ UINT64_C(1) << 63);

	for (int i = 0; i < TIME_DIGITS; i++)
		to[i] = hex[digits >> (60 - 4 * i) & 15];
	to[TIME_DIGITS] = '\0';
}

bool
result_id_get_time(struct text digits, int64_t *start_us)
{
	uint64_t value = 0;

	if (digits.bytes != TIME_DIGITS)
		return false;
	for (uint32_t i = 0; i < TIME_DIGITS; i++) {
		char c = digits.at[i];

		if (c >= '0' && c <= '9')
			value = value << 4 | (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uint64_t)(c - 'a' + 10);
		else
			return false;
	}
	*start_us = (int64_t)(~value ^ UINT64_C(1) << 63);
	return true;
}

enum {
	NAME_DIGITS = 24,
	DIGEST_DIGITS = 32,
	RUN_DIGITS = NAME_DIGITS + 1 + TIME_DIGITS + 1 + DIGEST_DIGITS,
	ENTRY_DIGITS = RUN_DIGITS + 1 + NUMBER_DIGITS,
	/* Estimated size of an entry in a page with names of usual length, to
	 * request pages of about the wanted number of rows. */
	ENTRY_BYTES = 320,
};

/* ---- one row ---- */

static bool
get_int(const struct record *record, const char *key, int64_t *to)
{
	struct value value;

	if (!record_find_attribute(record, text_of(key), &value) ||
	    value.type != VALUE_INT)
		return false;
	*to = value.is.i;
	return true;
}

static bool
get_name(const struct record *record, const char *key, struct text *to)
{
	return record_find_text(record, key, to) && to->bytes > 0 &&
	       to->bytes <= RESULT_NAME_BYTES_MAX;
}

static bool
is_digits(struct text id, uint32_t from, uint32_t digits)
{
	for (uint32_t i = from; i < from + digits; i++)
		if (!((id.at[i] >= '0' && id.at[i] <= '9') ||
			(id.at[i] >= 'a' && id.at[i] <= 'f')))
			return false;
	return true;
}

/* Is `id` made of this many digits, with slashes between its parts? */
static bool
is_id(struct text id, uint32_t digits)
{
	static const uint32_t parts[] = { NAME_DIGITS, TIME_DIGITS,
		DIGEST_DIGITS, NUMBER_DIGITS };
	uint32_t at = 0;

	if (id.bytes != digits)
		return false;
	for (int i = 0; at < digits; i++) {
		if (!is_digits(id, at, parts[i]))
			return false;
		at += parts[i];
		if (at < digits && id.at[at++] != '/')
			return false;
	}
	return true;
}

/* The time in the id, which defines the order, must be that of the result. */
static bool
get_start(const struct record *record, struct result_row *row)
{
	struct text digits = { row->id.at + NAME_DIGITS + 1, TIME_DIGITS };
	int64_t start_us;

	return get_int(record, "start_us", &row->start_us) &&
	       result_id_get_time(digits, &start_us) &&
	       start_us == row->start_us;
}

bool
result_row_read(const struct record *record, struct result_row *row)
{
	struct text kind = record->source;
	struct value *timing = &row->timing;

	*row = (struct result_row){ .id = record->name };
	if (record->kind != RECORD_ENTITY ||
	    !get_name(record, "test", &row->test))
		return false;
	if (text_equal(kind, text_of(RESULT_KIND_TEST)))
		return is_id(row->id, NAME_DIGITS);
	if (text_equal(kind, text_of(RESULT_KIND_RUN)))
		return is_id(row->id, RUN_DIGITS) && get_start(record, row) &&
		       record_find_text(record, "info", &row->info) &&
		       record_find_text(record, "file", &row->file) &&
		       get_int(record, "stored_ns", &row->stored_ns);
	return text_equal(kind, text_of(RESULT_KIND_ENTRY)) &&
	       is_id(row->id, ENTRY_DIGITS) && get_start(record, row) &&
	       get_name(record, "entry", &row->entry) &&
	       record_find_attribute(record, text_of("timing"), timing) &&
	       (timing->type == VALUE_INT || timing->type == VALUE_FLOAT ||
		   timing->type == VALUE_TEXT);
}

/* ---- many rows ---- */

const struct result_window result_window_all = { INT64_MIN, INT64_MAX };

/* Starts are whole microseconds: those from a time within one on are those from
 * the next one on. */
static int64_t
round_up(int64_t ns)
{
	return ns > 0 ? (ns + 999) / 1000 : ns / 1000;
}

struct result_window
result_window(int64_t from_ns, int64_t to_ns)
{
	struct result_window window = result_window_all;

	if (from_ns > TIME_MIN_NS)
		window.from_us = round_up(from_ns);
	if (to_ns < TIME_MAX_NS)
		window.to_us = round_up(to_ns);
	return window;
}

void
result_range_init(
    struct result_range *range, struct source *source, struct text partition)
{
	*range = (struct result_range){
		.source = source,
		.partition = partition,
		.window = result_window_all,
	};
}

static int
select_pattern(struct result_range *range, uint64_t rows, struct err *err)
{
	struct wire_query query = source_query(1u << RECORD_ENTITY);

	query.name = text_of(range->pattern);
	if (rows > 0 && rows < WIRE_PAGE_BYTES / ENTRY_BYTES)
		query.page_bytes = (uint32_t)(rows + 1) * ENTRY_BYTES;
	return source_select(
	    range->source, SOURCE_RECORDS, range->partition, &query, err);
}

static int
select_name(struct result_range *range, const char *kind, struct text test,
    struct text entry, const char *rest, uint64_t rows, struct err *err)
{
	char name[NAME_DIGITS + 1] = "";

	if (test.bytes > 0)
		result_id_name(name, test, entry);
	range->test = test;
	snprintf(range->pattern, sizeof(range->pattern), "%s:%s%s", kind, name,
	    test.bytes > 0 ? rest : "*");
	return select_pattern(range, rows, err);
}

int
result_range_runs(struct result_range *range, struct text test, uint64_t rows,
    struct err *err)
{
	return select_name(range, RESULT_KIND_RUN, test,
	    (struct text){ NULL, 0 }, "/*", rows, err);
}

int
result_range_entries(struct result_range *range, struct text test,
    struct text entry, uint64_t rows, struct err *err)
{
	return select_name(
	    range, RESULT_KIND_ENTRY, test, entry, "/*", rows, err);
}

int
result_range_at(struct result_range *range, struct text test, int64_t start_us,
    struct err *err)
{
	char rest[1 + TIME_DIGITS + 3] = "/";

	result_id_time(rest + 1, start_us);
	memcpy(rest + 1 + TIME_DIGITS, "/*", 3);
	return select_name(range, RESULT_KIND_RUN, test,
	    (struct text){ NULL, 0 }, rest, 0, err);
}

int
result_range_tests(
    struct result_range *range, struct text test, struct err *err)
{
	return select_name(range, RESULT_KIND_TEST, test,
	    (struct text){ NULL, 0 }, "", 0, err);
}

int
result_range_one(struct result_range *range, const char *kind, struct text id,
    struct err *err)
{
	range->test = (struct text){ NULL, 0 };
	snprintf(range->pattern, sizeof(range->pattern), "%s:%.*s", kind,
	    (int)id.bytes, id.at);
	return select_pattern(range, 0, err);
}

int
result_range_next(
    struct result_range *range, struct result_row *row, struct err *err)
{
	struct record record;
	int rc;

	while ((rc = source_next(range->source, &record, err)) > 0) {
		if (!result_row_read(&record, row)) {
			range->wrong++;
			continue;
		}
		/* another test with the same hash */
		if (range->test.bytes > 0 &&
		    !text_equal(range->test, row->test))
			continue;
		if (text_equal(record.source, text_of(RESULT_KIND_TEST)))
			return 1;
		if (row->start_us >= range->window.to_us)
			continue;
		if (row->start_us >= range->window.from_us)
			return 1;
		/* Newest first: all remaining rows are older. */
		if (range->test.bytes > 0)
			return 0;
	}
	return rc;
}

/* ---- distinct texts ---- */

void
distinct_init(struct distinct *distinct, uint32_t room, size_t bytes_max)
{
	assert(room >= 2);
	*distinct = (struct distinct){ .room = room, .bytes_max = bytes_max };
	distinct->keys = memory_zero(room, sizeof(*distinct->keys));
	distinct->bytes = memory_alloc(bytes_max);
}

void
distinct_clear(struct distinct *distinct)
{
	free(distinct->keys);
	free(distinct->bytes);
	free(distinct->last);
	free(distinct->limit);
	*distinct = (struct distinct){ .keys = NULL };
}

static int
by_bytes(const void *left, const void *right)
{
	const struct text *a = left, *b = right;

	return text_compare(*a, *b);
}

static void
sort(struct distinct *distinct)
{
	uint32_t kept = 0;

	if (distinct->count > 0)
		qsort(distinct->keys, distinct->count, sizeof(*distinct->keys),
		    by_bytes);
	for (uint32_t i = 0; i < distinct->count; i++)
		if (kept == 0 ||
		    !text_equal(distinct->keys[kept - 1], distinct->keys[i]))
			distinct->keys[kept++] = distinct->keys[i];
	distinct->count = kept;
}

static void
copy(char **to, uint32_t *bytes, struct text key)
{
	*to = memory_resize(*to, key.bytes + 1);
	memcpy(*to, key.at, key.bytes);
	*bytes = key.bytes;
}

/* Drop the greater half and compact the bytes of the smaller half. */
static void
cut(struct distinct *distinct)
{
	char *bytes = memory_alloc(distinct->bytes_max);
	uint32_t half;

	sort(distinct);
	half = (distinct->count + 1) / 2;
	if (half < distinct->count) {
		copy(&distinct->limit, &distinct->limit_bytes,
		    distinct->keys[half]);
		distinct->has_limit = true;
	}
	distinct->count = half;
	distinct->used = 0;
	for (uint32_t i = 0; i < half; i++) {
		struct text *key = &distinct->keys[i];

		memcpy(bytes + distinct->used, key->at, key->bytes);
		key->at = bytes + distinct->used;
		distinct->used += key->bytes;
	}
	free(distinct->bytes);
	distinct->bytes = bytes;
}

void
distinct_begin(struct distinct *distinct)
{
	if (distinct->count > 0) {
		copy(&distinct->last, &distinct->last_bytes,
		    distinct->keys[distinct->count - 1]);
		distinct->has_last = true;
	}
	distinct->count = 0;
	distinct->used = 0;
	distinct->has_limit = false;
}

static bool
is_wanted(const struct distinct *distinct, struct text key)
{
	struct text last = { distinct->last, distinct->last_bytes };
	struct text limit = { distinct->limit, distinct->limit_bytes };

	return (!distinct->has_last || text_compare(key, last) > 0) &&
	       (!distinct->has_limit || text_compare(key, limit) < 0);
}

void
distinct_add(struct distinct *distinct, struct text key)
{
	assert(key.bytes <= distinct->bytes_max / 2);
	while (is_wanted(distinct, key)) {
		if (distinct->count < distinct->room &&
		    distinct->used + key.bytes <= distinct->bytes_max) {
			char *at = distinct->bytes + distinct->used;

			memcpy(at, key.at, key.bytes);
			distinct->keys[distinct->count++] =
			    (struct text){ at, key.bytes };
			distinct->used += key.bytes;
			return;
		}
		cut(distinct);
	}
}

bool
distinct_sort(struct distinct *distinct)
{
	sort(distinct);
	return distinct->has_limit;
}
