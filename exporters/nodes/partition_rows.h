/*
 * stats_partition_rows - what a source says of each partition.
 *
 * A partition that several places keep has a row for each of them.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_NODES_PARTITION_ROWS_H
#define EXPORTERS_NODES_PARTITION_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/source/source.h"
#include "proto/hash/string_table.h"

struct partition_row {
	struct text name; /* valid until partition_rows_clear */
	uint32_t place;   /* source_place_name */
	uint64_t nodes;   /* that ever sent a record that is kept */
	uint64_t records; /* of all kinds */
	uint64_t records_of[RECORD_KINDS];
	uint64_t rejected_bytes, rejected_cut; /* of rejected batches */
	/* The journal entry that brought its last record, and the generation of
	 * the store: while both are the same, nothing came. */
	uint64_t last_entry, generation;
	/* Times of the records; INT64_MIN: unknown. */
	int64_t first_ns, last_ns;
	bool is_kept_twice; /* another place has a row of it, too */
	bool is_read;       /* of such rows the one that is read: the newest */
};

struct partition_rows {
	struct string_table names;
	struct partition_row *at; /* in the order of the answer */
	uint32_t count, room;
};

/* Read those whose name matches the pattern (empty: all).  Clear it in any
 * case. */
int partition_rows_read(struct partition_rows *rows, struct source *source,
    struct text pattern, struct err *err);
void partition_rows_clear(struct partition_rows *rows);
/* None matches the pattern: -1, and the sentence names those that are near. */
int partition_rows_refuse(
    struct source *source, struct text pattern, struct err *err);

/* The row of a partition that is read.  Its name is `name`; empty: the source
 * does not have it. */
int partition_rows_read_one(struct partition_row *row, struct source *source,
    struct text name, struct err *err);

/* Is the record of an answer to SOURCE_STATUS of a partition, and of which? */
bool partition_rows_name(const struct record *record, struct text *name);

#endif
