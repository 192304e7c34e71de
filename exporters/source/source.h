/*
 * source - records for an exporter, from a store, an aggregator or an archive.
 *
 * A store directory on this machine, the reader endpoint of an aggregator and
 * its archive give the same pages: the same records in the same order
 * (aggregator/query/reader.h).  One page is in memory at a time, and one is
 * prefetched.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_SOURCE_SOURCE_H
#define EXPORTERS_SOURCE_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "exporters/source/archive_source.h"
#include "exporters/source/clock_view.h"
#include "proto/auth/client_key.h"
#include "proto/base/err.h"
#include "proto/config/opt.h"
#include "proto/service/sandbox.h"
#include "proto/wire/wire.h"

struct answer;
struct source; /* opaque */

/* Which source to open.  With neither a store nor an endpoint: the reader
 * endpoint of --dir when an aggregator runs there, else its store. */
struct source_options {
	const char *store;       /* directory, or NULL */
	struct opt_list connect; /* endpoints, and addresses of archives */
	int clock;   /* enum clock_choice: the clock on which times are shown */
	int damaged; /* enum source_damaged */
	const char *tz;                       /* opt_parse sets the zone */
	struct client_key_values key;         /* for a TCP endpoint */
	struct archive_source_values archive; /* for an archive */
	/* Set by a program that asks again and again: what is new in an archive
	 * is read, too. */
	bool stays;
};

/* --store, --connect, --clock, --tz, --damaged, --key, --insecure, --archive-*;
 * bound to struct source_options, in every exporter's tables. */
extern const struct opt source_options[];

/* The texts of `options` need not outlive the call.  A process may open
 * several sources. */
int source_open(struct source **source, const struct source_options *options,
    struct err *err);
/* The number of places that source_open asks: one, or those of --connect.  A
 * partition is read where it is kept, the answer to SOURCE_STATUS is that of
 * all. */
uint32_t source_places(const struct source_options *options);
/* Would source_open read a store?  A process can have it open once. */
bool source_reads_store(const struct source_options *options);
/* Returns which file access source_open will need; call it before.  A wrong
 * address of --connect, or password, ends the process here (opt_usage). */
void source_sandbox(
    struct sandbox *sandbox, const struct source_options *options);
/* Open one endpoint with a time limit for its silence: other listeners (a
 * broker's) answer SOURCE_STATUS too. */
int source_open_endpoint(struct source **source,
    const struct source_options *options, const char *endpoint,
    int64_t silence_ns, struct err *err);
void source_close(struct source **source);

/* Close the source at the end of a program's work, which had the result `rc`.
 * If the answers lacked what is damaged, say how much; without --damaged skip
 * this is an error.  Returns the new result. */
enum source_damaged { DAMAGED_FAIL, DAMAGED_SKIP };
int source_finish(struct source **source, int rc, struct err *err);
/* The same without closing it. */
int source_check_damage(const struct source *source, int rc, struct err *err);
/* answer_end of an answer from the source: it is not complete, either, if it
 * lacks what is damaged; source_finish makes an error of that. */
int source_end_answer(const struct source *source, struct answer *answer,
    int rc, struct err *err);

/* The directory, endpoint or archive that is asked, for messages. */
const char *source_name(const struct source *source);

/* Several places: which one gave the last record, from 0 on, and the name of
 * one of them. */
uint32_t source_place(const struct source *source);
const char *source_place_name(const struct source *source, uint32_t place);

/* Set the default of --clock; call it before source_open. */
void source_default_clock(
    struct source_options *options, enum clock_choice choice);
/* Load the clock estimates that `query` needs before the query itself. */
int source_load_clocks(struct source *source, struct text partition,
    const struct wire_query *query, struct err *err);
/* The same estimates will be loaded, and this query will be selected: an
 * aggregator is asked for them together with the next query, which saves the
 * time of a way to it and back.  What is never selected does no harm. */
void source_ahead_clocks(struct source *source, struct text partition,
    const struct wire_query *query);
/* The loaded estimates, and what was done to the last record. */
struct source_clock *source_clock(struct source *source);

/* Do the options name another source than the instance of --dir? */
bool source_is_named(const struct source_options *options);

/* Does a process listen at this ipc endpoint?  The test does not disturb it. */
bool source_is_listening(const char *endpoint);

/* Was there no record in the answers so far, and did all questions succeed?
 * SOURCE_STATUS does not count. */
bool source_is_empty(const struct source *source);
/* Did a question fail? */
bool source_has_failed(const struct source *source);

/* Forget what earlier questions left: whether anything was answered, failed or
 * was damaged, estimates of clocks, another choice of the clock.  For a process
 * that asks again and again. */
void source_renew(struct source *source);

/* Leave partitions that do not match the pattern out of the answers to
 * SOURCE_STATUS; it must live as long as it is set.  NULL: none is left out. */
void source_limit(struct source *source, const char *pattern);

/* From now on leave out records that are not wanted: of SOURCE_RECORDS,
 * SOURCE_NEWEST and SOURCE_OPEN, in shown times.  NULL: all are wanted. */
void source_set_filter(struct source *source,
    bool (*wants)(const void *arg, const struct record *record),
    const void *arg);

/* Other names for those of the records: each that is read is changed, and each
 * question is put back.  What either puts in must live until the second record
 * after it. */
struct source_rename {
	void *arg;
	/* `statistics`: its attributes are of a model, not of who recorded. */
	void (*record)(void *arg, struct record *record, bool statistics);
	void (*question)(
	    void *arg, struct text *partition, struct wire_query *query);
};
void source_set_rename(
    struct source *source, const struct source_rename *rename);

/* Start a query; its texts must live until the last source_next. */
enum source_what {
	SOURCE_RECORDS,
	SOURCE_NEWEST, /* records of test runs, the newest first */
	/* Records on the clocks of the nodes; of phases those that have not
	 * ended. */
	SOURCE_OPEN,
	SOURCE_STATS,
	SOURCE_STATS_BY_NODE,
	/* Entities of kind "node": the names of nodes, and received_ns and
	 * time_ns of the last record of each. */
	SOURCE_NODES,
	SOURCE_STATUS,
	SOURCE_FOLLOW /* set by source_follow only */
};
int source_select(struct source *source, enum source_what what,
    struct text partition, const struct wire_query *query, struct err *err);
/* It will be selected, after other queries (source_ahead_clocks). */
void source_ahead(struct source *source, enum source_what what,
    struct text partition, const struct wire_query *query);

/* Follow the journal of the partition: source_next returns its records in
 * journal order, as they were sent (times on the nodes' own clocks), and 0
 * when there are no more at the moment; then wait, and query again from
 * source_followed.  `from` is the number of the first entry (a batch) to
 * return; 0: the oldest stored entry, UINT64_MAX: entries that arrive from now
 * on.  Of the query the kinds, node, name, columns and the time window apply
 * (the window does not apply to entities).  A gap reports entries that were
 * purged before they were read, or that are damaged, whatever the kinds:
 * source "batch", name "purged" or "damaged", count.  Returns -1 also when the
 * journal ends before `from`: the position belongs to another store.  An
 * archive cannot be followed. */
int source_follow(struct source *source, struct text partition,
    const struct wire_query *query, uint64_t from, struct err *err);
/* All records of entries below this number were returned.  They are the only
 * records returned if source_next has just returned 0, or a record with which
 * the number grew.  A caller that has forwarded everything at such a moment
 * can resume from this number later and neither loses nor repeats a record. */
uint64_t source_followed(const struct source *source);
/* The entry of the record that source_next has just returned. */
uint64_t source_entry(const struct source *source);
/* Has the answer to the last question everything that was received?  INT64_MAX;
 * otherwise what was received after this time (wall clock of the aggregator)
 * may be missing, and nothing can be concluded from its absence. */
int64_t source_complete_ns(const struct source *source);
/* Generation of the store that sent the last page; restoring a store changes
 * it.  Entry numbers are valid within one generation. */
uint64_t source_generation(const struct source *source);

/* A query for all records of these kinds (bits of enum record_kind). */
struct wire_query source_query(uint32_t kinds);

/* 1 and a record (a view, valid until the next call), 0 at the end, -1 when
 * the source failed (endpoint silent for 10 s, store damaged). */
int source_next(struct source *source, struct record *record, struct err *err);

#endif
