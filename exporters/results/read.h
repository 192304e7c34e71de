/*
 * result_read - results of benchmarks, as they are kept in a store.
 *
 * They lie so that what is asked for is a range, the newest first
 * (proto/wire.md, "Result files"): nothing is sorted, and who wants the newest
 * few reads no more than those. SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_RESULTS_READ_H
#define EXPORTERS_RESULTS_READ_H

#include "exporters/results/result_id.h"
#include "exporters/source/source.h"

/* Views, as long as those of the record. */
struct result_row {
	struct text id; /* NAME, NAME/TIME/DIGEST or NAME/TIME/DIGEST/NUMBER */
	struct text test;
	int64_t start_us; /* not of a test */

	struct text info, file; /* of a run: the file's text and name */
	int64_t stored_ns;

	struct text entry; /* of an entry */
	struct value timing;
};

/* False when the entity is none of a result's, or not as they are. */
bool result_row_read(const struct record *record, struct result_row *row);

struct result_range {
	struct source *source;
	struct text partition;
	int64_t since_us; /* INT64_MIN: all */
	struct text test; /* of which it is; empty: all */
	uint64_t wrong;   /* entities that were not as results are */
	char pattern[128];
};

void result_range_init(
    struct result_range *range, struct source *source, struct text partition);

/* What to read next: the results or entries of a test, the newest first, but
 * none from before `since_us`; of all when `test` is empty; with `rows` at most
 * so many are wanted (0: who knows).  `test` must live as long. */
int result_range_runs(
    struct result_range *range, struct text test, uint64_t rows, struct err *);
int result_range_entries(struct result_range *range, struct text test,
    struct text entry, uint64_t rows, struct err *err);
/* The results of a test that started then, whatever `since_us` is. */
int result_range_at(struct result_range *range, struct text test,
    int64_t start_us, struct err *err);
/* The tests, in no order that means anything; with `test` that one. */
int result_range_tests(
    struct result_range *range, struct text test, struct err *err);
/* The one of that id, of kind RESULT_KIND_RUN or RESULT_KIND_ENTRY. */
int result_range_one(struct result_range *range, const char *kind,
    struct text id, struct err *err);

/* 1 and a row (view, valid until the next call), 0 at the end, -1. */
int result_range_next(
    struct result_range *range, struct result_row *row, struct err *err);

#endif
