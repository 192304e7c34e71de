/*
 * reader - the store's public face: records, statistics and counters, a page
 * at a time.
 *
 * Exporters link this and nothing else of the aggregator; the aggregator's
 * own reader listener answers through it too.  A page holds a snapshot only
 * while it is being made, so no reader can make the store grow.  Pages and
 * cursors are those of proto/wire/wire.h: a local reader and a remote one see
 * the same bytes. SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_READER_H
#define AGGREGATOR_QUERY_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/wire/wire.h"

struct reader; /* opaque */

/* Opens STORE/tables and STORE/journal read-only.  The store must exist; one
 * of another format is refused by name. */
int reader_open(struct reader **reader, const char *store, struct err *err);
/* The same on handles that the process has already (LMDB allows one a
 * process): they must outlive the reader. */
struct db;
struct journal;
int reader_open_shared(struct reader **reader, struct db *tables,
    struct journal *journal, struct err *err);
void reader_close(struct reader **reader);

/* How many batches were acknowledged and are not in the tables yet: what the
 * answers below do not show.  Not 0 for long while an aggregator runs. */
int reader_lag(struct reader *reader, uint64_t *batches, struct err *err);

/* Records of `query` in one partition, in the order (kind, hour, node, track,
 * time); phases in the order (phase, key, node, k).  Writes cursor and
 * records into `w` (a page body) until it is full, query->page_bytes is
 * reached or 65,536 records were looked at, so that a page may be empty and not
 * the last; `*last` when nothing follows.  An unknown partition gives an empty
 * last page.  Kinds that may be asked for: event, sample, span, entity, gap,
 * dead, phase (RECORD_PHASE: derived spans, complete or not, with
 * has_time / has_end and the attributes of both events, message keys
 * included; source = model, name = phase, key = what pairs were matched by).
 * With query->step_ns samples come as buckets (enum wire_bucket), and nothing
 * else does, in the order (hour, node, set, metric, step). */
int reader_select(struct reader *reader, struct text partition,
    const struct wire_query *query, struct wire_writer *w, bool *last,
    struct err *err);

/* What the journal has of one partition, in the order in which it was
 * received, as it was sent: events, samples, spans, entities and gaps that
 * `query` wants (kinds, node, name, time; not an entity's time).  The cursor is
 * a struct wire_position, each record says its entry; `*last` when there is
 * nothing more now.  Dead letters are left out.  Entries that are gone or
 * cannot be read are reported, whatever is asked for, by a gap: class "batch",
 * reason "purged" or "damaged", their number as count.  A place behind the end
 * is answered with the end. */
int reader_follow(struct reader *reader, struct text partition,
    const struct wire_query *query, struct wire_writer *w, bool *last,
    struct err *err);
/* False: the partition was moved to another store (or is on its way here). */
bool reader_keeps(struct reader *reader, struct text partition);

/* Of the store: random, and another one after it was restored. */
uint64_t reader_generation(const struct reader *reader);

/* Statistics as entity records: kind "phase", id "model:phase" (with
 * `by_node`: node set to the node).  Properties: count, sum, min, max, mean,
 * std_population, std_sample, p50, p90, p99 (seconds, float), open_starts,
 * open_ends, too_late, overflow, start, end (event names), unmatched
 * ("incomplete" or "ignore"), required (bool). */
int reader_stats(struct reader *reader, struct text partition,
    const struct wire_query *query, bool by_node, struct wire_writer *w,
    bool *last, struct err *err);

/* What is in the store, as entity records of kind "status": id "store"
 * (bytes, rows and bytes by table, records by kind, journal_first,
 * journal_next, indexed, lag, sessions, generation, rebuilding), and id
 * "partition:NAME" (records by kind, nodes, first_ns, last_ns). */
int reader_status(struct reader *reader, const struct wire_query *query,
    struct wire_writer *w, bool *last, struct err *err);

#endif
