/*
 * column_records - rows of the archive's tables as records of the store.
 *
 * The reverse of record_columns.h: the body that results has the meaning of the
 * one that was archived, to the last bit of a number, and commands print the
 * same for both.  Its bytes may differ: numbers take their shortest form, and a
 * name has the number that it has now.
 *
 * Rows come from outside: each is checked, and one that record_columns cannot
 * have written is refused.  The caller checks identity and times.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_ROWS_COLUMN_RECORDS_H
#define AGGREGATOR_ARCHIVE_ROWS_COLUMN_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/archive/rows/record_columns.h"
#include "proto/base/buffer.h"

/* A row as views; what its kind does not have is not looked at. */
struct archive_row {
	uint64_t part, pos;
	int32_t hour;
	struct text node, track, session; /* track: of samples and spans */
	uint32_t stream; /* the number of the session, if the caller has one */
	int64_t time_ns, receive_ns;
	uint64_t seq;
	uint32_t index;

	int64_t end_ns; /* spans, gaps */
	uint64_t count; /* gaps: count; rejected: bytes */
	/*
	 *             source  name    key
	 *   events    source  name    uuid
	 *   spans     -       name    category
	 *   gaps      class   reason  -
	 *   rejected  -       reason  sha256
	 */
	struct text source, name, key;
	struct text body; /* rejected */

	struct text types;               /* events, spans, samples */
	const struct text *keys, *texts; /* events, spans: keys, vals */
	uint32_t key_count, text_count;
	const double *numbers; /* samples: v */
	const uint64_t *big;   /* samples */
	uint32_t number_count, big_count;
};

/* The number of a name; 0: it has none, and the body has its text. */
struct archive_numbers {
	uint32_t (*number)(void *context, struct text name);
	void *context;
};

/* Make the record of a row.  Its body is a view of `body`, whose bytes before
 * are gone, valid until `body` changes.  False: the row is malformed. */
bool archive_record(const struct archive_row *row, enum record_kind kind,
    const struct archive_numbers *numbers, struct row_block_item *item,
    struct buffer *body);

/* Append the attributes of a row as a body has them; false: it is malformed. */
bool archive_attributes(const struct archive_row *row,
    const struct archive_numbers *numbers, struct buffer *to);
/* A number of the arrays `v` and `big`, which moves on when the value is there.
 * False: it is malformed. */
bool archive_get_number(
    char letter, double v, struct text *big, struct value *value);

#endif
