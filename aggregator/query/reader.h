/*
 * reader - the public interface for reading a store: records, statistics and
 * counts, page by page.
 *
 * Exporters link this part of the aggregator and no other; the query server of
 * the aggregator uses it too.  A page holds a snapshot only while it is made,
 * so no reader can make the store grow.  Pages and cursors are those of
 * proto/wire/wire.h: local and remote readers see the same bytes.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_QUERY_READER_H
#define AGGREGATOR_QUERY_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/wire/wire.h"

struct reader; /* opaque */

/* Open STORE/tables and STORE/journal read-only.  A store that is missing or
 * of another format is an error. */
int reader_open(struct reader **reader, const char *store, struct err *err);
/* The same with handles that the process has already open (LMDB allows one per
 * process).  They must outlive the reader. */
struct db;
struct journal;
int reader_open_shared(struct reader **reader, struct db *tables,
    struct journal *journal, struct err *err);
/* What makes the rows of a reader that has no store (aggregator/db/source.h).
 */
struct reader_origin {
	/* Before each page. */
	int (*begin)(void *arg, const struct wire_header *header,
	    const struct wire_query *query, struct err *err);
	/* Another reader of the same, for another thread. */
	int (*beside)(void *arg, struct reader **reader, struct err *err);
	void (*close)(void *arg); /* the reader is gone */
};
struct reader *reader_open_made(
    struct db *tables, const struct reader_origin *origin, void *arg);
/* Another reader of the same store, for another thread.  It must not outlive
 * the first one. */
int reader_open_beside(
    struct reader **reader, const struct reader *first, struct err *err);
void reader_close(struct reader **reader);

/* The indexing lag: the number of acknowledged batches that are not in the
 * tables yet and therefore missing from the answers below.  It returns to 0
 * while an aggregator runs. */
int reader_lag(struct reader *reader, uint64_t *batches, struct err *err);

/* Records of batches received before this time (wall clock) are all in the
 * answers below. */
int reader_complete_ns(struct reader *reader, int64_t *ns, struct err *err);

/* Make one page of the answer to a question.  Of `header` the type, the
 * partition, and WIRE_FLAG_BY_NODE, _UNPAIRED, _NEWEST and _OPEN apply.
 * Writes the cursor and the records to `w` (a page body) until it is full,
 * query->page_bytes is reached, or 65,536 records were examined.  A page may
 * therefore be empty without being the last.  `*last`: nothing follows.  An
 * unknown partition gives an empty last page.
 *
 * WIRE_SELECT: the records that `query` selects in one partition, in the order
 * (kind, hour, node, track, time); phases in the order (phase, key, node, k).
 * Kinds: event, sample, span, entity, gap, rejected batch, test run, and
 * phase.  A phase record is derived; it may lack its start or its end
 * (has_time, has_end), and has the attributes of both events, including those
 * of their messages.  Its source is the model, its name the phase, its key the
 * value that pairs are matched by.  With WIRE_FLAG_UNPAIRED each event of a
 * phase with scope "run" comes alone and with its run; nodes do not select
 * them, and time selects all of a row or none.  With WIRE_FLAG_OPEN phases come
 * that have a start and no end.  Test runs come in the order
 * (model, appearance), with WIRE_FLAG_NEWEST in the order (model, time of the
 * first event, appearance) from the end.  With query->step_ns the page
 * has samples as buckets (enum wire_bucket) and nothing else, in the order
 * (hour, node, metric group, metric, step).
 *
 * WIRE_FOLLOW: what the journal has of one partition, in the order of arrival
 * and as it was sent: events, samples, spans, entities and gaps that `query`
 * selects (by kind, node, name, time; the time of entities is ignored).
 * Rejected batches are left out.  The cursor is a struct wire_position; each
 * record has the number of its entry.  `*last`: the journal has nothing more
 * now.  Purged and damaged entries are always reported, whatever the query: as
 * a gap of class "batch" with reason "purged" or "damaged" and their number as
 * count.  A cursor beyond the end of the journal continues at its end.
 *
 * WIRE_STATS: statistics as entities: kind "phase", id "model:phase"; with
 * WIRE_FLAG_BY_NODE one for each node.  Properties: count, sum, min, max,
 * mean, std_population, std_sample, p50, p90, p99 (seconds, float),
 * open_starts, open_ends, start, end (event names), unmatched ("incomplete" or
 * "ignore"), run (the attribute; only of a phase with scope "run"), required
 * (bool), and without WIRE_FLAG_BY_NODE histogram: how many durations each of
 * proto/base/duration_buckets.h counts, with a blank between them.  With kind
 * context in the query: an entity of kind "node", whose id is its name, for
 * each node that `query->node` selects, with what was last heard of it
 * (tables/latest.h).
 *
 * WIRE_STATUS: what is in the store, as entities of kind "status": id "store"
 * (bytes, rows and bytes by table, records by kind, journal_first,
 * journal_next, indexed, indexing_lag, sessions, generation, rebuilding), and
 * id "partition:NAME" (records by kind, nodes, first_ns, last_ns, last_entry:
 * the number of the last journal entry that brought it a record).  The name
 * pattern selects by id; when it names one partition, only that is looked at.
 * After reader_limit: only the partitions of the pattern, and a store that has
 * nothing but their sums and `limited`; the cursor depends on no other.
 */
int reader_answer(struct reader *reader, const struct wire_header *header,
    const struct wire_query *query, struct wire_writer *w, bool *last,
    struct err *err);

/* Hours that the archive has may be absent: those that retention has deleted
 * from the store of an aggregator with an archive.  After a page without
 * records that ended at such an hour, reader_absent is what it needs
 * (tables/absent.h), otherwise NULL. */
struct absent_need;
void reader_of_retained(struct reader *reader);
const struct absent_need *reader_absent(const struct reader *reader);

/* reader_of_retained, after such a page: the question to the archive, the
 * records of that kind up to the first hour that is here.  Its cursor is a view
 * of that of `query`. */
struct wire_query reader_ask_archive(
    const struct reader *reader, const struct wire_query *query);
/* The archive's page was the last one: let its cursor be that of the first hour
 * that is here.  `before` is the writer as it was before the page. */
void reader_go_on(const struct reader *reader, const struct wire_writer *before,
    const struct wire_writer *page);

/* Limit the answers to WIRE_STATUS to partitions of this pattern; "*" and an
 * empty text: to none.  A view, which must live as long as it is set. */
void reader_limit(struct reader *reader, struct text pattern);
bool reader_sees_all(const struct reader *reader);

/* The next page does not continue the last answer of this reader: drop what was
 * kept of it. */
void reader_forget(struct reader *reader);

/* Name in the header of a page what the last answer lacks because it is
 * damaged; `ids` gets the bytes. */
void reader_put_damage(const struct reader *reader, struct wire_header *page,
    unsigned char ids[static WIRE_DAMAGED_MAX * WIRE_DAMAGED_BYTES]);

/* The generation of the store: a random number that changes when it is
 * restored. */
uint64_t reader_generation(const struct reader *reader);

#endif
