/*
 * source - records for an exporter, wherever they are.
 *
 * A store directory on this machine, or an aggregator's reader endpoint: the
 * same pages, the same records, in the same order (aggregator/query/reader.h).
 * One page is in memory at a time. SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_SOURCE_H
#define EXPORTERS_SOURCE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/source/clock_view.h"
#include "proto/auth/client_key.h"
#include "proto/base/err.h"
#include "proto/config/opt.h"
#include "proto/service/sandbox.h"
#include "proto/wire/wire.h"

struct source; /* opaque */

/* Which one.  Neither a store nor an endpoint: the reader endpoint of --dir
 * when an aggregator runs there, else its store. */
struct source_options {
	const char *store;   /* directory, or NULL */
	const char *connect; /* endpoint, or NULL */
	int clock;           /* enum clock_choice: on which it shows times */
	struct client_key_values key; /* for a TCP endpoint */
};

/* --store, --connect, --clock, --key, --insecure; bound to struct
 * source_options, in every exporter's tables. */
extern const struct opt source_options[];

/* The texts of `options` need not outlive the call.  A process may have several
 * sources. */
int source_open(struct source **source, const struct source_options *options,
    struct err *err);
/* Before it: what it needs of the files. */
void source_sandbox(
    struct sandbox *sandbox, const struct source_options *options);
/* The same for one endpoint and the time it may be silent: other listeners
 * (a broker's) answer SOURCE_STATUS too. */
int source_open_endpoint(struct source **source,
    const struct source_options *options, const char *endpoint,
    int64_t silence_ns, struct err *err);
void source_close(struct source **source);

/* Where the records come from, for messages: a directory or an endpoint. */
const char *source_name(const struct source *source);

/* Before source_open: on which clock times are shown unless --clock says. */
void source_default_clock(
    struct source_options *options, enum clock_choice choice);
/* Learn what is known of the clocks of what `query` asks for, ahead of it. */
int source_load_clocks(struct source *source, struct text partition,
    const struct wire_query *query, struct err *err);
/* What is known of clocks, and what became of the last record. */
struct source_clock *source_clock(struct source *source);

/* Was another place named than the instance of --dir? */
bool source_is_named(const struct source_options *options);

/* Does a process listen at this ipc endpoint?  Asked without disturbing it. */
bool source_is_listening(const char *endpoint);

/* What to read next; the texts must live until the last source_next. */
enum source_what {
	SOURCE_RECORDS,
	SOURCE_STATS,
	SOURCE_STATS_BY_NODE,
	SOURCE_STATUS,
	SOURCE_FOLLOW /* by source_follow only */
};
int source_select(struct source *source, enum source_what what,
    struct text partition, const struct wire_query *query, struct err *err);

/* What is received from now on: source_next gives the records of the
 * partition's journal in that order, as they were sent (times as nodes took
 * them), and 0 when there is nothing more now: then wait, and ask again from
 * source_followed.  `from` is the number of the first entry (a batch) wanted;
 * 0: the oldest that is kept, UINT64_MAX: those to come.  Of the query count
 * kinds, node, name, columns and the time window (not for entities).  Entries
 * that were purged before they were followed, or cannot be read, are reported
 * whatever the kinds by a gap: source "batch", name "purged" or "damaged",
 * count.  -1 also when the journal ends before `from`: it is another store's.
 */
int source_follow(struct source *source, struct text partition,
    const struct wire_query *query, uint64_t from, struct err *err);
/* All records of entries below this number were given.  Nothing else was when
 * source_next has just given 0, or a record with which the number has grown:
 * who has sent everything given by then, and goes on from the number later,
 * neither loses nor repeats a record. */
uint64_t source_followed(const struct source *source);
/* The entry of the record that source_next has just given. */
uint64_t source_entry(const struct source *source);
/* Of the store that gave the last page; a restored one has another.  Numbers
 * of entries are of one generation. */
uint64_t source_generation(const struct source *source);

/* A query for everything of these kinds (bits of enum record_kind). */
struct wire_query source_query(uint32_t kinds);

/* 1 and a record (view, valid until the next call), 0 at the end, -1 when the
 * source failed (endpoint silent for 10 s, store damaged). */
int source_next(struct source *source, struct record *record, struct err *err);

#endif
