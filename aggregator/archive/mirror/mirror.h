/*
 * mirror - a store that has of an archive what was asked for.
 *
 * A temporary store, which ends with the process.  Of each
 * partition of the archive it knows the counts.  What else the archive has as
 * keys and values comes with the first question about a partition, and the
 * records of an hour with the first question that needs them.  So an answer
 * has the same bytes as that of the aggregator that wrote the archive, up to
 * its last checkpoint.
 *
 * One thread reads the archive: what was asked for, in the order of the
 * questions, and every MIRROR_FOLLOW_NS what was added since.  When records
 * exceed their bound, the hours that were fetched first go.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_ARCHIVE_MIRROR_MIRROR_H
#define AGGREGATOR_ARCHIVE_MIRROR_MIRROR_H

#include <stdbool.h>
#include <stdint.h>

#include "aggregator/query/reader.h"
#include "proto/clickhouse/client.h"
#include "proto/os/clock.h"

#define MIRROR_FOLLOW_NS (10 * NS_PER_SECOND)
#define MIRROR_BYTES     (UINT64_C(8) << 30)

struct mirror; /* opaque */

/* The texts must outlive the mirror. */
struct mirror_options {
	struct clickhouse_options clickhouse;
	const char *option;  /* name of the one with the address, for errors */
	const char *pattern; /* of partitions; NULL: all */
	/* An existing directory for the files, which lose their names at once;
	 * NULL: $TMPDIR, or /tmp. */
	const char *dir;
	uint64_t bytes;    /* of records that are kept; 0: MIRROR_BYTES */
	bool follows;      /* false: what it has stays as it was at the first
			      question */
	bool records_only; /* no question but for records */
	bool progress;     /* print what is being read to stderr */
};

/* Finds the cluster, checks its format and reads the list of partitions, which
 * takes a second or less.  -1: no host answers, it is no archive, a shard has
 * no replica that answers (its number is in the error), or no partition
 * matches. */
int mirror_open(struct mirror **mirror, const struct mirror_options *options,
    struct err *err);
/* Ends the thread; the files go. */
void mirror_close(struct mirror **mirror);

/* The first reader of the store; others are opened next to it
 * (reader_open_beside). It must be closed before the mirror. */
int mirror_reader(
    struct mirror *mirror, struct reader **reader, struct err *err);

/* As reader_answer, after the archive was read for what the page needs; from
 * any thread, each with a reader of its own.  MIRROR_FETCHING: this is not
 * complete after `wait_ns` (INT64_MAX: no limit); it goes on, ask again.
 * WIRE_FOLLOW is an error: an archive has no journal. */
enum { MIRROR_DONE = 0, MIRROR_FAILED = -1, MIRROR_FETCHING = 1 };
int mirror_answer(struct mirror *mirror, struct reader *reader,
    const struct wire_header *header, const struct wire_query *query,
    struct wire_writer *w, bool *last, int64_t wait_ns, struct err *err);

struct mirror_status {
	uint64_t partitions;       /* of the archive that match */
	uint64_t partitions_read;  /* whose keys and values are here */
	uint64_t hours, bytes;     /* of records that are here */
	uint64_t fetched, dropped; /* hours, since the beginning */
	uint64_t failed;           /* questions to the archive */
	int64_t until_ns; /* wall clock: the archive was read up to then */
	char error[200];  /* the last one, until something succeeds; "" */
};
/* From any thread. */
void mirror_status(struct mirror *mirror, struct mirror_status *status);

#endif
