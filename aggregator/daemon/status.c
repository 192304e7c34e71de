/*
 * status - the status reply of an aggregator.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/daemon/status.h"

#include <stdio.h>
#include <string.h>

#include "proto/counter/counter.h"
#include "proto/os/clock.h"

enum { PAIRS_BYTES = 8 << 10 };

struct pairs {
	char room[PAIRS_BYTES];
	struct wire_writer w;
	uint32_t count;
};

static void
begin(struct pairs *pairs)
{
	pairs->count = 0;
	wire_writer_init(&pairs->w, pairs->room, sizeof(pairs->room));
}

static void
named(struct pairs *pairs, const char *name, uint64_t n)
{
	struct value value = { .type = VALUE_INT, .is.i = (int64_t)n };

	if (wire_put_attribute(&pairs->w, text_of(name), &value))
		pairs->count++;
}

static void
number(struct pairs *pairs, enum counter_number counter, uint64_t n)
{
	named(pairs, counters[counter].name, n);
}

static void
words(struct pairs *pairs, enum counter_number counter, const char *text)
{
	struct value value = { .type = VALUE_TEXT, .is.text = text_of(text) };

	if (text[0] != '\0' && wire_put_attribute(&pairs->w,
				   text_of(counters[counter].name), &value))
		pairs->count++;
}

static void
flag(struct pairs *pairs, enum counter_number counter, bool set)
{
	struct value value = { .type = VALUE_BOOL, .is.boolean = set };

	if (wire_put_attribute(
		&pairs->w, text_of(counters[counter].name), &value))
		pairs->count++;
}

/* "nack_busy" and so on; zeros are omitted, because most never happen. */
static void
reasons(struct pairs *pairs, const struct receiver_counters *receiver,
    const struct auth_counters *auth)
{
	char name[64];

	for (unsigned i = 1; i < WIRE_REASONS; i++) {
		if (receiver->nacks[i] == 0)
			continue;
		snprintf(name, sizeof(name), "nack_%s",
		    wire_reason_name((enum wire_reason)i));
		named(pairs, name, receiver->nacks[i]);
	}
	for (unsigned i = 1; i < WIRE_FAULTS; i++) {
		if (receiver->faults[i] == 0)
			continue;
		snprintf(name, sizeof(name), "fault_%s",
		    wire_fault_name((enum wire_fault)i));
		named(pairs, name, receiver->faults[i]);
	}
	for (unsigned i = AUTH_OK + 1; i < AUTH_VERDICTS; i++) {
		if (auth->forbidden[i] == 0)
			continue;
		snprintf(name, sizeof(name), "forbidden_%s",
		    auth_verdict_name((enum auth_verdict)i));
		named(pairs, name, auth->forbidden[i]);
	}
}

static void
put_ingest(struct pairs *pairs, const struct ingest_status *s)
{
	number(pairs, COUNTER_AGGREGATOR_batches, s->receiver.batches);
	number(pairs, COUNTER_AGGREGATOR_records, s->receiver.records);
	number(pairs, COUNTER_AGGREGATOR_bytes, s->receiver.bytes);
	number(pairs, COUNTER_AGGREGATOR_gaps, s->receiver.gaps);
	number(
	    pairs, COUNTER_AGGREGATOR_rejected_batches, s->receiver.rejected);
	number(pairs, COUNTER_AGGREGATOR_repeated, s->receiver.repeated);
	number(pairs, COUNTER_AGGREGATOR_hellos, s->receiver.hellos);
	number(pairs, COUNTER_AGGREGATOR_byes, s->receiver.byes);
	number(pairs, COUNTER_AGGREGATOR_sessions_new, s->receiver.sessions);
	number(pairs, COUNTER_AGGREGATOR_sessions_limited, s->receiver.limited);
	number(pairs, COUNTER_AGGREGATOR_streams_damaged, s->receiver.damaged);
	number(pairs, COUNTER_AGGREGATOR_messages_malformed, s->malformed);
	number(pairs, COUNTER_AGGREGATOR_accepts_failed, s->accepts_failed);
	number(pairs, COUNTER_AGGREGATOR_connections_evicted,
	    s->connections_evicted);
	number(pairs, COUNTER_AGGREGATOR_connections_throttled,
	    s->connections_throttled);
	number(pairs, COUNTER_AGGREGATOR_rate_limited, s->rate_limited);
	number(pairs, COUNTER_AGGREGATOR_connections_dropped,
	    s->connections_dropped);
	number(pairs, COUNTER_AGGREGATOR_messages_unkeyed, s->unkeyed);
	number(
	    pairs, COUNTER_AGGREGATOR_handshakes_failed, s->handshakes_failed);
	number(pairs, COUNTER_AGGREGATOR_peers, s->peers);
	if (s->broker_ns != 0)
		number(pairs, COUNTER_AGGREGATOR_broker_ns,
		    (uint64_t)s->broker_ns);
	number(pairs, COUNTER_AGGREGATOR_commits, s->commits);
	number(pairs, COUNTER_AGGREGATOR_commits_failed, s->commit_failures);
	number(pairs, COUNTER_AGGREGATOR_commit_ns, s->commit_ns);
	number(pairs, COUNTER_AGGREGATOR_answers_late, s->answers_late);
	number(pairs, COUNTER_AGGREGATOR_answers_dropped, s->answers_dropped);
	number(pairs, COUNTER_AGGREGATOR_journal_first, s->first);
	number(pairs, COUNTER_AGGREGATOR_journal_next, s->next);
	number(pairs, COUNTER_AGGREGATOR_journal_purged, s->purged);
	number(pairs, COUNTER_AGGREGATOR_sessions_collected,
	    s->sessions_collected);
	number(pairs, COUNTER_AGGREGATOR_indexing_lag_bytes,
	    s->indexing_lag_bytes);
	flag(pairs, COUNTER_AGGREGATOR_indexing_behind, s->paced || s->lagging);
	number(pairs, COUNTER_AGGREGATOR_indexing_rate, s->indexing_rate);
	number(pairs, COUNTER_AGGREGATOR_admission_rate,
	    s->paced ? s->admission_rate : 0);
	number(pairs, COUNTER_AGGREGATOR_batches_deferred, s->deferred);
}

static void
put_indexer(struct pairs *pairs, const struct writer_status *s, uint64_t next)
{
	number(pairs, COUNTER_AGGREGATOR_indexed, s->position);
	number(pairs, COUNTER_AGGREGATOR_indexing_lag,
	    next > s->position ? next - 1 - s->position : 0);
	number(pairs, COUNTER_AGGREGATOR_index_records, s->records);
	number(pairs, COUNTER_AGGREGATOR_index_commits, s->commits);
	number(pairs, COUNTER_AGGREGATOR_index_commit_ns, s->commit_ns);
	number(pairs, COUNTER_AGGREGATOR_index_overflow, s->overflow);
	number(pairs, COUNTER_AGGREGATOR_index_no_run_id, s->no_run_id);
	number(pairs, COUNTER_AGGREGATOR_phase_names_over, s->phase_names_over);
	number(pairs, COUNTER_AGGREGATOR_index_repeated, s->repeated);
	number(pairs, COUNTER_AGGREGATOR_index_damaged, s->damaged);
	flag(pairs, COUNTER_AGGREGATOR_index_paused, s->is_damaged);
	flag(pairs, COUNTER_AGGREGATOR_no_models, s->no_models);
	number(pairs, COUNTER_AGGREGATOR_index_quarantined, s->quarantined);
	number(pairs, COUNTER_AGGREGATOR_index_uncompacted, s->uncompacted);
	number(pairs, COUNTER_AGGREGATOR_rejected_cut, s->rejected_cut);
	number(pairs, COUNTER_AGGREGATOR_groups_refused, s->groups_refused);
	number(pairs, COUNTER_AGGREGATOR_names_over, s->names_over);
	number(pairs, COUNTER_AGGREGATOR_entities_over, s->entities_over);
	number(pairs, COUNTER_AGGREGATOR_retained_ns, s->retained_ns);
	flag(pairs, COUNTER_AGGREGATOR_retention_stopped, s->retention_stopped);
	number(pairs, COUNTER_AGGREGATOR_retention_held, s->retention_held);
	number(pairs, COUNTER_AGGREGATOR_clock_ahead_ns,
	    (uint64_t)s->clock_lead_ns);
}

static void
put_auth(struct pairs *pairs, const struct auth_counters *auth, bool insecure)
{
	flag(pairs, COUNTER_AGGREGATOR_insecure, insecure);
	number(pairs, COUNTER_AGGREGATOR_keys, auth->keys);
	number(pairs, COUNTER_AGGREGATOR_handshakes_refused,
	    auth->handshakes_refused);
	number(pairs, COUNTER_AGGREGATOR_forbidden, auth_forbidden(auth));
}

static void
put_query_server(struct pairs *pairs, const struct query_server_status *s)
{
	number(pairs, COUNTER_QUERIES_selects, s->selects);
	number(pairs, COUNTER_QUERIES_stats, s->stats);
	number(pairs, COUNTER_QUERIES_statuses, s->statuses);
	number(pairs, COUNTER_QUERIES_follows, s->follows);
	number(pairs, COUNTER_QUERIES_pages_bytes, s->pages_bytes);
	number(pairs, COUNTER_QUERIES_questions_refused, s->refused);
	number(pairs, COUNTER_QUERIES_questions_failed, s->failed);
	number(pairs, COUNTER_QUERIES_questions_busy, s->busy);
	number(pairs, COUNTER_QUERIES_questions_fetching, s->fetching);
	number(pairs, COUNTER_QUERIES_pages_unsent, s->unsent);
	number(pairs, COUNTER_QUERIES_questions_forbidden, s->forbidden);
	number(pairs, COUNTER_QUERIES_questions_unkeyed, s->unkeyed);
	number(pairs, COUNTER_QUERIES_readers_handshakes_failed,
	    s->handshakes_failed);
}

static bool
put_entity(struct wire_writer *w, struct text node, const char *id,
    const struct pairs *pairs)
{
	const struct record record = {
		.kind = RECORD_ENTITY,
		.node = node,
		.receive_ns = clock_wall_ns(),
		.source = text_of("status"),
		.name = text_of(id),
		.attributes = pairs->count,
		.pairs = { pairs->room, (uint32_t)pairs->w.bytes },
	};

	return wire_put_context_full(w, &record) && wire_put_record(w, &record);
}

static bool
put_queries(struct wire_writer *w, struct text node,
    const struct query_server_status *query_server)
{
	struct pairs pairs;

	begin(&pairs);
	put_query_server(&pairs, query_server);
	return put_entity(w, node, "aggregator:queries", &pairs);
}

/* What the archive lacks, and why. */
static bool
put_archive(struct wire_writer *w, struct text node,
    const struct archive_progress_status *s, uint64_t next)
{
	struct pairs pairs;

	begin(&pairs);
	flag(&pairs, COUNTER_ARCHIVE_archive_failing, s->failing_since_ns != 0);
	number(&pairs, COUNTER_ARCHIVE_archive_failing_since_ns,
	    (uint64_t)s->failing_since_ns);
	flag(&pairs, COUNTER_ARCHIVE_archive_refused, s->is_refused);
	flag(&pairs, COUNTER_ARCHIVE_archive_one_copy, s->is_one_copy);
	number(&pairs, COUNTER_ARCHIVE_archive_entry, s->entry);
	number(&pairs, COUNTER_ARCHIVE_archive_change, s->change);
	number(&pairs, COUNTER_ARCHIVE_archive_lag,
	    next > s->entry + 1 ? next - 1 - s->entry : 0);
	number(&pairs, COUNTER_ARCHIVE_archive_lag_ns, (uint64_t)s->lag_ns);
	number(&pairs, COUNTER_ARCHIVE_archive_epoch, s->epoch);
	number(&pairs, COUNTER_ARCHIVE_archive_shards, s->shards);
	number(&pairs, COUNTER_ARCHIVE_archive_passes, s->passes);
	number(&pairs, COUNTER_ARCHIVE_archive_passes_pending, s->pending);
	number(&pairs, COUNTER_ARCHIVE_archive_records, s->records);
	number(&pairs, COUNTER_ARCHIVE_archive_records_pending,
	    s->records_pending);
	number(&pairs, COUNTER_ARCHIVE_archive_rows, s->rows);
	number(&pairs, COUNTER_ARCHIVE_archive_bytes, s->bytes);
	number(&pairs, COUNTER_ARCHIVE_archive_resends, s->resends);
	number(&pairs, COUNTER_ARCHIVE_archive_damaged, s->damaged);
	words(&pairs, COUNTER_ARCHIVE_archive_problem, s->problem);
	return put_entity(w, node, "aggregator:archive", &pairs);
}

/* "archive_replica:HOST:PORT", cut off where a name ends. */
static void
put_replica(struct pairs *pairs, const struct archive_progress_shard *s,
    unsigned replica)
{
	static const char prefix[] = "archive_replica:";
	const char *place = s->replica[replica].place;
	int room = NAME_BYTES_MAX - (int)sizeof(prefix) + 1;
	char name[NAME_BYTES_MAX + 1];

	/* A record has each name once. */
	for (unsigned i = 0; i < replica; i++)
		if (strncmp(s->replica[i].place, place, (size_t)room) == 0)
			return;
	snprintf(name, sizeof(name), "%s%.*s", prefix, room, place);
	named(pairs, name, s->replica[replica].change);
}

/* What the replicas of a shard have. */
static bool
put_shard(struct wire_writer *w, struct text node, unsigned shard,
    const struct archive_progress_shard *s)
{
	char name[64];
	struct pairs pairs;

	begin(&pairs);
	for (unsigned r = 0; r < s->replicas; r++)
		put_replica(&pairs, s, r);
	snprintf(name, sizeof(name), "aggregator:archive:shard:%u", shard + 1);
	return put_entity(w, node, name, &pairs);
}

bool
status_put(struct wire_writer *w, struct text node,
    const struct ingest_status *ingest, const struct writer_status *indexer,
    const struct query_server_status *query_server,
    const struct auth_counters *auth,
    const struct archive_progress_status *archiver, bool insecure)
{
	struct pairs pairs;

	if (archiver != NULL && !put_archive(w, node, archiver, ingest->next))
		return false;
	for (unsigned i = 0; archiver != NULL && i < archiver->shards; i++)
		if (!put_shard(w, node, i, &archiver->shard[i]))
			return false;
	begin(&pairs);
	flag(&pairs, COUNTER_AGGREGATOR_full, ingest->full || indexer->full);
	words(&pairs, COUNTER_AGGREGATOR_full_problem,
	    ingest->full ? ingest->full_why : indexer->full_why);
	put_ingest(&pairs, ingest);
	put_indexer(&pairs, indexer, ingest->next);
	put_auth(&pairs, auth, insecure);
	if (!put_entity(w, node, "aggregator", &pairs))
		return false;
	/* A record has a limit of attributes, so there are three. */
	if (!put_queries(w, node, query_server))
		return false;
	begin(&pairs);
	reasons(&pairs, &ingest->receiver, auth);
	return pairs.count == 0 ||
	       put_entity(w, node, "aggregator:refused", &pairs);
}

/* What is here of the archive, and up to when. */
static bool
put_read(struct wire_writer *w, struct text node,
    const struct archive_read_status *s)
{
	struct pairs pairs;

	begin(&pairs);
	flag(&pairs, COUNTER_READ_read_failing, s->error[0] != '\0');
	number(&pairs, COUNTER_READ_read_until_ns, (uint64_t)s->until_ns);
	number(&pairs, COUNTER_READ_read_partitions, s->partitions);
	number(&pairs, COUNTER_READ_read_failed, s->failed);
	number(&pairs, COUNTER_READ_read_asked, s->asked);
	number(&pairs, COUNTER_READ_read_kept, s->kept);
	number(&pairs, COUNTER_READ_read_kept_bytes, s->kept_bytes);
	words(&pairs, COUNTER_READ_read_problem, s->error);
	return put_entity(w, node, "aggregator:read", &pairs);
}

bool
status_put_gateway(struct wire_writer *w, struct text node,
    const struct archive_read_status *read,
    const struct query_server_status *query_server,
    const struct auth_counters *auth, bool insecure)
{
	struct pairs pairs;

	if (!put_read(w, node, read))
		return false;
	begin(&pairs);
	put_auth(&pairs, auth, insecure);
	return put_entity(w, node, "aggregator", &pairs) &&
	       put_queries(w, node, query_server);
}
