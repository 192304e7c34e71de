/*
 * result_read - read results of benchmarks from a store; their ids.
 *
 * Every query is a range of ids, newest first (proto/wire.md, "Result files"):
 * nothing is sorted, and reading the newest N reads only those.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RESULTS_READ_H
#define EXPORTERS_RESULTS_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exporters/source/source.h"
#include "proto/base/text.h"

/*
 * Ids of results in a store, chosen so that their order is the order of the
 * queries.  proto/wire.md, "Result files".
 */

#define RESULT_KIND_TEST   "result.test"   /* a test that has results */
#define RESULT_KIND_RUN    "result"        /* a file: one run of a test */
#define RESULT_KIND_ENTRY  "result.entry"  /* a timing in a file */
#define RESULT_KIND_UPLOAD "result.upload" /* a target that has the file */

/* TEST/NEWNESS/DIGEST/NUMBER: 24, 16, 32 and 5 hexadecimal digits; a run has
 * no number. */
enum {
	RESULT_ID_NAME_BYTES = 24,
	RESULT_ID_DIGEST_AT = RESULT_ID_NAME_BYTES + 1 + 16 + 1,
	RESULT_ID_DIGEST_BYTES = 32,
	RESULT_ID_RUN_BYTES = RESULT_ID_DIGEST_AT + RESULT_ID_DIGEST_BYTES,
	RESULT_ID_BYTES = RESULT_ID_RUN_BYTES + 1 + 5 + 1,
};

/* 24 hexadecimal digits: a hash of the name of the test or, if `entry` is not
 * empty, of the names of test and entry. */
void result_id_name(char to[static 25], struct text test, struct text entry);
/* The id of entry `number` (from 0) of the file with the id `run`; only the
 * low 20 bits of `number` are used. */
void result_id_entry(char to[static RESULT_ID_BYTES],
    const char run[static RESULT_ID_RUN_BYTES], struct text test,
    struct text entry, uint32_t number);
/* 16 hexadecimal digits that increase as the time decreases: newest first. */
void result_id_time(char to[static 17], int64_t start_us);
bool result_id_get_time(struct text digits, int64_t *start_us);

/* Views, valid while the record is. */
struct result_row {
	struct text id; /* NAME, NAME/TIME/DIGEST or NAME/TIME/DIGEST/NUMBER */
	struct text test;
	int64_t start_us; /* unset for a test */

	struct text info, file; /* of a run: text and name of the file */
	int64_t stored_ns;

	struct text entry; /* of an entry */
	struct value timing;
};

/* False if the entity does not belong to results, or is malformed. */
bool result_row_read(const struct record *record, struct result_row *row);

/* Starts from `from_us` on, before `to_us`. */
struct result_window {
	int64_t from_us, to_us; /* INT64_MIN, INT64_MAX: all */
};
extern const struct result_window result_window_all;

/* Of the options --from and --to (TIME_MIN_NS, TIME_MAX_NS: not given). */
struct result_window result_window(int64_t from_ns, int64_t to_ns);

struct result_range {
	struct source *source;
	struct text partition;
	struct result_window window;
	struct text test; /* restrict to this test or entry; empty: all */
	uint64_t wrong;   /* number of malformed entities */
	char pattern[128];
};

void result_range_init(
    struct result_range *range, struct source *source, struct text partition);

/* Select what to read next: the results or entries of a test, newest first,
 * none outside of `window`; of all tests if `test` is empty.  `rows` is the
 * number of rows wanted, a hint (0: unknown).  `test` must outlive the reader.
 */
int result_range_runs(
    struct result_range *range, struct text test, uint64_t rows, struct err *);
int result_range_entries(struct result_range *range, struct text test,
    struct text entry, uint64_t rows, struct err *err);
/* Select the results of a test with this start time; ignores `window`. */
int result_range_at(struct result_range *range, struct text test,
    int64_t start_us, struct err *err);
/* Select all tests, in no defined order, or only `test`. */
int result_range_tests(
    struct result_range *range, struct text test, struct err *err);
/* Select the row with this id, of kind RESULT_KIND_RUN or RESULT_KIND_ENTRY. */
int result_range_one(struct result_range *range, const char *kind,
    struct text id, struct err *err);

/* Returns 1 and a row (view, valid until the next call), 0 at the end, or
 * -1. */
int result_range_next(
    struct result_range *range, struct result_row *row, struct err *err);

/*
 * distinct - any number of texts in byte order, in bounded memory.
 *
 * For a source that can be read repeatedly: each pass reads everything and
 * stores the smallest keys greater than those of the previous passes.  It
 * needs no disk space, which a reader of a store may not have, and the first
 * rows are available after one pass.
 */

struct distinct {
	struct text *keys; /* after distinct_sort: sorted and unique */
	uint32_t count;

	uint32_t room;    /* maximum number of keys in memory; at least 2 */
	size_t bytes_max; /* maximum total bytes of the keys; at least two of
			     the longest */
	char *bytes;
	size_t used;
	char *last, *limit; /* ignore keys up to and including `last`, and keys
			       from `limit` on */
	uint32_t last_bytes, limit_bytes;
	bool has_last, has_limit;
};

void distinct_init(struct distinct *distinct, uint32_t room, size_t bytes_max);
void distinct_clear(struct distinct *distinct);

/* One pass: begin it, add every key, sort. */
void distinct_begin(struct distinct *distinct);
void distinct_add(struct distinct *distinct, struct text key);
/* Did keys not fit in memory, so that another pass is needed? */
bool distinct_sort(struct distinct *distinct);

#endif
