/*
 * read - an archive as if it were a store.
 *
 * Rows of the store are made of the archive's typed rows when a reader asks for
 * them (aggregator/db/source.h), so the questions have one code for both and
 * the answers the same bytes.  Nothing is kept but ranges of rows that were
 * made. proto/archive.md, "Reading", says what is made of what.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_READ_READ_H
#define AGGREGATOR_ARCHIVE_READ_READ_H

#include "aggregator/query/reader.h"
#include "proto/clickhouse/client.h"
#include "proto/os/clock.h"

/* The first page of a question (without a cursor) has what was in the archive
 * at most that long ago. */
#define ARCHIVE_READ_OLD_NS (2 * NS_PER_SECOND)

/* How reading goes, of all readers that are opened next to each other. */
struct archive_read_status {
	uint64_t partitions;
	uint64_t failed;  /* looks at the archive */
	int64_t until_ns; /* wall clock: when the archive was looked at last */
	uint64_t asked;   /* questions that the archive was asked */
	uint64_t kept;    /* and that it needed not be asked */
	uint64_t kept_bytes;
	char error[200]; /* of the last look, "": it was made */
};
/* What they share: they look at the archive one at a time, and ask it none of
 * their questions twice (answers.h).  If it cannot be looked at, they answer
 * what they have. */
struct archive_read_state; /* opaque */
struct archive_read_state *archive_read_state_new(void);
void archive_read_state_free(struct archive_read_state **state);
void archive_read_look(
    struct archive_read_state *state, struct archive_read_status *status);

/* The texts must outlive the readers. */
struct archive_read_options {
	struct clickhouse_options clickhouse;
	const char *option; /* the name of the one with the address */
	/* NULL: of one reader; or outlives them. */
	struct archive_read_state *state;
	/* NULL, or reports what is lacking of what was committed, which is an
	 * error otherwise. */
	void (*on_lack)(const char *sentence);
};

/* A reader of an archive, for one thread; reader_open_beside opens others.
 * Finds the cluster, checks its format and reads the list of partitions.  It
 * has no journal: WIRE_FOLLOW is an error. */
int archive_read_open(struct reader **reader,
    const struct archive_read_options *options, struct err *err);
#endif
