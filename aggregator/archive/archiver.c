/*
 * archiver - the thread that copies the store to the archive.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/archive/archiver.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "aggregator/archive/owners.h"
#include "aggregator/archive/pass.h"
#include "aggregator/archive/archive_progress.h"
#include "aggregator/archive/question.h"
#include "aggregator/archive/restarts.h"
#include "aggregator/archive/schema/archive_id.h"
#include "aggregator/archive/schema/schema.h"
#include "aggregator/archive/verify.h"
#include "aggregator/tables/tables.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/heartbeat.h"
#include "proto/os/log.h"

#define RETRY_NS     NS_PER_SECOND
#define RETRY_MAX_NS (15 * NS_PER_SECOND)
/* A replica fetches what the other one got in a few 100 ms. */
#define SETTLE_NS (2 * NS_PER_SECOND)
/* No replica has all that was sent: it is lost, send it again. */
#define LOST_NS (30 * NS_PER_SECOND)
#define STEP_NS (NS_PER_SECOND / 20)
/* Servers that do not sync write what they have confirmed within half a minute.
 * Until then the marks of rows that change stay: if a server starts again, they
 * are sent once more, and the counts of facts are committed once more: who
 * reads notices that facts are gone. */
#define SETTLED_NS (60 * NS_PER_SECOND)
/* The marks of what was in the store before are nearly complete, or soon. */
#define MARKING_NS (NS_PER_SECOND / 10)
/* Begins the sentences about the archive, also those of others. */
#define WORD "archive: "

struct archiver {
	struct archiver_options options;
	struct writer *writer;
	struct clickhouse *client;
	struct thread thread;
	atomic_bool stop;

	bool is_open; /* connected: the members below are in use */
	uint64_t id;  /* of the archive */
	/* The last epoch of this store that has a commit; if none has, its
	 * first; 0: it has no epoch. */
	uint32_t last;
	bool is_new_epoch; /* which has no commit yet */
	struct owners owners;
	struct block_sender sender;
	struct pass pass;
	struct pass_place committed;
	struct pass_place sent; /* by the passes since then */
	int64_t sent_ns;        /* wall time of its snapshot */
	int64_t lost_ns; /* monotonic: since then no replica has all; 0 */
	struct verify_positions positions;
	struct commits commits;
	struct restarts restarts;
	uint64_t settling;  /* change of a commit: its marks stay ... */
	int64_t settles_ns; /* ... until then, monotonic; 0: there is none */
	bool is_connected_logged;

	struct archive_progress progress;
};

/* ---- connecting ---- */

static void
disconnect(struct archiver *self)
{
	if (!self->is_open)
		return;
	block_sender_close(&self->sender);
	owners_clear(&self->owners);
	pass_clear(&self->pass);
	self->is_open = false;
}

/* The next pass has all rows that have a mark, and what has none; they stay
 * marked again. */
static void
send_marked(struct archiver *self)
{
	self->pass.is_again = true;
	self->pass.common = 0;
	self->owners.has_rows = false;
	self->settles_ns = 0;
	commits_repeat(&self->commits);
}

/* Go on behind the last commit: what was sent after it is sent again. */
static void
begin_anew(struct archiver *self)
{
	self->sent = self->committed;
	self->positions.count = 0;
	self->lost_ns = 0;
	send_marked(self);
	commits_forget(&self->commits);
	block_sender_forget(&self->sender);
	typed_pass_forget(&self->pass.typed);
}

/* What the store has noted of its archive. */
struct notes {
	uint64_t id;
	uint64_t cleared; /* a change: tables.h */
	struct owners_notes claims;
};

static int
read_notes(struct archiver *self, struct notes *notes, struct err *err)
{
	struct db_txn *txn;

	if (db_begin(writer_db(self->writer), false, &txn, err) != 0)
		return -1;
	notes->id = tables_fact(txn, FACT_ARCHIVE_ID);
	notes->cleared = tables_fact(txn, FACT_CLEARED);
	notes->claims = owners_notes(txn);
	db_abort(&txn);
	return 0;
}

static int
note(struct archiver *self, const struct writer_archive *note, struct err *err)
{
	struct writer_archive what = *note;
	int rc;

	what.id = self->id;
	what.claimant = self->owners.claimant;
	what.claim = self->owners.claim;

	heartbeat_rest();
	rc = writer_note_archive(self->writer, &what, &self->stop, err);
	heartbeat_beat();
	return rc;
}

/* The last commit of the last epoch of this store that has one. */
static int
find_committed(struct archiver *self, struct err *err)
{
	const struct owners *owners = &self->owners;
	uint32_t i = owners->claims.count;
	struct commits_ends ends;

	if (commits_read(&ends, self->client, err) != 0)
		return -1;
	self->committed = (struct pass_place){ .change = 0 };
	self->last = 0;
	while (i-- > 0 && self->committed.change == 0)
		if (owners->claims.claim[i].store == owners->store) {
			self->last = owners->claims.claim[i].epoch;
			self->committed = commits_place(&ends, self->last);
		}
	self->is_new_epoch =
	    self->last != owners->epoch && self->committed.change > 0;
	free(ends.at);
	return 0;
}

static int
refuse_older(uint64_t has, uint64_t noted, struct err *err)
{
	return err_set(err,
	    "archive: this store is from before (a snapshot, or a copy): it "
	    "noted change %llu, the archive has %llu; nothing is archived or "
	    "deleted. Make a store with poolscope archive restore, give it the "
	    "partitions with poolscope archive takeover, and start the "
	    "aggregator with that",
	    (unsigned long long)noted, (unsigned long long)has);
}

/* Is it the archive that this store had, and the store the one that the archive
 * had?  Otherwise marks do not say what is lacking.  Then the store notes what
 * it claims. */
static int
recognize(struct archiver *self, struct err *err)
{
	struct notes known;
	bool is_other, is_older;
	uint64_t has;

	if (archive_id_read(self->client, &self->id, err) != 0 ||
	    read_notes(self, &known, err) != 0 ||
	    owners_recognize(&self->owners, &known.claims, err) != 0 ||
	    find_committed(self, err) != 0)
		return -1;
	has = self->committed.change;
	if (has > known.claims.archived)
		return refuse_older(has, known.claims.archived, err);
	is_other = known.id != self->id;
	is_older = has < known.cleared;
	if (known.id != 0 && (is_other || is_older))
		log_warn("archive: %s: everything is sent again",
		    is_other ? "this is not the archive that the store had, or "
			       "tables of it were made again"
			     : "it is from before (a snapshot, a copy, a power "
			       "cut)");
	return note(self,
	    &(struct writer_archive){ .is_new = is_other || is_older }, err);
}

static int
begin_commits(struct archiver *self, struct err *err)
{
	return commits_begin(&self->commits,
	    pass_position(self->owners.epoch, self->committed.change),
	    self->last, self->client, err);
}

/* Take an epoch, which begins where the one before has ended. */
static int
take_epoch(struct archiver *self, struct err *err)
{
	struct owners *owners = &self->owners;
	struct db_txn *txn;
	int rc;

	if (owners_take_epoch(owners, err) != 0)
		return -1;
	if (!self->is_new_epoch)
		return 0;
	if (db_begin(writer_db(self->writer), false, &txn, err) != 0)
		return -1;
	rc = owners_claim(owners, txn, err);
	db_abort(&txn);
	return rc == 0 && begin_commits(self, err) == 0
		   ? commits_write(&self->commits, self->client, owners->epoch,
			 &self->committed, err)
		   : -1;
}

/* ---- marks of what was committed ---- */

static void
clear_marks(struct archiver *self, uint64_t settled)
{
	const struct marks_clear clear = { .change = self->committed.change,
		.settled = settled,
		.row = self->committed.row };

	writer_clear_marks(self->writer, &clear);
}

/* Are rows that were confirmed on the disk? */
static bool
servers_sync(const struct archiver *self)
{
	return clickhouse_cluster(self->client)->version >=
	       CLICKHOUSE_VERSION_NEW;
}

/* After a commit, and when there is nothing to commit. */
static void
settle(struct archiver *self, bool is_commit)
{
	bool is_synced = servers_sync(self);
	int64_t now_ns = clock_monotonic_ns();
	bool is_due = self->settles_ns != 0 && now_ns >= self->settles_ns;
	bool is_over = is_due && self->settling == self->committed.change;

	if (is_commit || is_due)
		clear_marks(self, is_synced ? self->committed.change
				  : is_due  ? self->settling
					    : 0);
	if (is_synced || is_over || self->pass.is_again)
		self->settles_ns = 0;
	else if (is_due || (is_commit && self->settles_ns == 0)) {
		self->settling = self->committed.change;
		self->settles_ns = now_ns + SETTLED_NS;
	}
}

/* What was archived may be gone. */
static int
see_whether_it_is_the_same(struct archiver *self, struct err *err)
{
	uint64_t id;

	if (archive_id_read(self->client, &id, err) != 0)
		return -1;
	if (id == self->id)
		return 0;
	writer_await_archive(self->writer);
	disconnect(self);
	return err_set(err, "archive: its tables were made again");
}

/* What a server had not synced may be gone. */
static int
see_whether_all_went_on(struct archiver *self, struct err *err)
{
	if (servers_sync(self))
		return 0;
	if (restarts_look(&self->restarts, self->client, err) != 0)
		return -1;
	if (!self->restarts.found)
		return 0;
	self->restarts.found = false;
	send_marked(self);
	log_info("archive: a server has started again; what changed in the "
		 "last minute is sent once more");
	return note(self, &(struct writer_archive){ .is_again = true }, err);
}

static int
connect_to(struct archiver *self, struct err *err)
{
	const struct clickhouse_cluster *cluster;
	uint64_t pos;

	heartbeat_rest();
	if (clickhouse_find(self->client, err) != 0 ||
	    schema_check(self->client, err) != 0 ||
	    restarts_look(&self->restarts, self->client, err) != 0)
		return -1;
	heartbeat_beat();
	self->restarts.found = false; /* all marks are sent anyway */
	if (recognize(self, err) != 0 || take_epoch(self, err) != 0)
		return -1;
	pos = pass_position(self->owners.epoch, self->committed.change);
	if (self->commits.pos != pos && begin_commits(self, err) != 0)
		return -1;
	cluster = clickhouse_cluster(self->client);
	block_sender_open(&self->sender, self->client, cluster);
	self->pass = (struct pass){ .typed = { .sender = &self->sender,
					.commits = &self->commits },
		.stop = &self->stop };
	self->is_open = true;
	begin_anew(self);
	/* A crash may have come between the commit and the removal of the
	 * marks. */
	if (self->committed.change > 0)
		clear_marks(self, 0);
	archive_progress_connect(
	    &self->progress, cluster, self->owners.epoch, &self->committed);
	if (!self->is_connected_logged)
		log_info("archive: %u shards, database %s, epoch %u, "
			 "committed up to entry %llu",
		    cluster->shards, clickhouse_database(self->client),
		    self->owners.epoch,
		    (unsigned long long)self->committed.entry);
	self->is_connected_logged = true;
	return 0;
}

/* ---- a round ---- */

static int
send_snapshot(struct archiver *self, struct db_txn *txn, struct err *err)
{
	struct pass_place place = pass_place(txn);
	size_t bytes = self->sender.shards * sizeof(struct block_sender_shard);
	struct block_sender_shard *before;

	/* A row that is waited for must not be replaced. */
	if (self->pass.is_again && self->positions.count > 0)
		return 0;
	if (place.change <= self->sent.change ||
	    self->positions.count == VERIFY_POSITIONS_MAX ||
	    typed_pass_is_full(&self->pass.typed))
		return 0;
	before = memory_copy(self->sender.shard, bytes);
	self->sent_ns = clock_wall_ns();
	if (pass_send(&self->pass, txn, &self->sent, self->owners.epoch, err) !=
	    0) {
		block_sender_undo(&self->sender, before);
		free(before);
		begin_anew(self);
		return -1;
	}
	free(before);
	self->positions.at[self->positions.count++] = self->pass.typed.pos;
	self->pass.is_again = false;
	self->sent = self->pass.to;
	archive_progress_send(
	    &self->progress, &self->pass, self->positions.count);
	return 0;
}

/* Send what has changed. */
static int
send_changes(struct archiver *self, struct err *err)
{
	struct db_txn *txn;
	int rc;

	if (!writer_marks_are_complete(self->writer))
		return 0; /* a snapshot would lack what was there before */
	if (db_begin(writer_db(self->writer), false, &txn, err) != 0)
		return -1;
	rc = owners_claim(&self->owners, txn, err);
	if (rc == 0)
		rc = send_snapshot(self, txn, err);
	db_abort(&txn);
	return rc;
}

static int
commit(struct archiver *self, struct err *err)
{
	const struct writer_archive sent = { .change = self->sent.change };

	/* A store that has not noted it is one of before. */
	if (note(self, &sent, err) != 0 ||
	    owners_look(&self->owners, err) != 0 ||
	    commits_write(&self->commits, self->client, self->owners.epoch,
		&self->sent, err) != 0)
		return -1;
	self->committed = self->sent;
	self->positions.count = 0;
	block_sender_forget(&self->sender);
	typed_pass_forget(&self->pass.typed);
	settle(self, true);
	archive_progress_commit(
	    &self->progress, &self->committed, self->sent_ns);
	return 0;
}

/* The worst shard has too few copies. */
static int
wait_for_copies(
    struct archiver *self, const struct verify_result *result, struct err *err)
{
	int64_t now_ns = clock_monotonic_ns();
	const char *why;

	archive_progress_wait(
	    &self->progress, self->positions.count, result->copies_least);
	if (result->copies_least > 0 || result->has_err)
		self->lost_ns = 0;
	else if (self->lost_ns == 0)
		self->lost_ns = now_ns;
	else if (now_ns - self->lost_ns > LOST_NS) {
		begin_anew(self);
		return err_set(err,
		    "archive: no replica of shard %u has all that was sent; "
		    "sending it again",
		    result->shard + 1);
	}
	if (!result->has_err)
		return err_set(err,
		    "archive: %u of %u replicas of shard %u have what was "
		    "sent; waiting for the others",
		    result->copies_least, result->wanted, result->shard + 1);
	why = result->err.text;
	if (strncmp(why, WORD, sizeof(WORD) - 1) == 0)
		why += sizeof(WORD) - 1;
	return err_set(err, WORD "shard %u has %u of %u copies: %s",
	    result->shard + 1, result->copies_least, result->wanted, why);
}

static void
note_copies(struct archiver *self, const struct verify_seen *seen)
{
	const struct clickhouse_cluster *cluster =
	    clickhouse_cluster(self->client);

	for (unsigned s = 0; s < self->sender.shards; s++)
		for (unsigned r = 0; r < cluster->shard[s].replicas; r++)
			if (seen->at[s][r])
				archive_progress_find(&self->progress, s, r,
				    &cluster->shard[s].replica[r],
				    self->sent.change);
}

static int
verify(struct archiver *self, const struct schema_stage *stage, struct err *err)
{
	const struct timespec step = { 0, STEP_NS };
	int64_t until = clock_monotonic_ns() + SETTLE_NS;
	struct verify_seen seen = { .at = { { false } } };
	struct verify_result result;

	for (;;) {
		verify_all(
		    &self->sender, &self->positions, stage, &seen, &result);
		note_copies(self, &seen);
		if (result.is_enough)
			return 0;
		if (atomic_load(&self->stop) || clock_monotonic_ns() > until ||
		    result.has_err)
			break;
		nanosleep(&step, NULL);
	}
	return wait_for_copies(self, &result, err);
}

static int
send_held(
    struct archiver *self, const struct schema_stage *stage, struct err *err)
{
	size_t bytes = self->sender.shards * sizeof(struct block_sender_shard);
	struct block_sender_shard *before =
	    memory_copy(self->sender.shard, bytes);
	int rc = block_sender_flush(&self->sender, stage, err);

	if (rc != 0) {
		block_sender_undo(&self->sender, before);
		begin_anew(self);
	}
	free(before);
	return rc;
}

/* Records are on two replicas before rows that count them are sent.  Who stood
 * still, and has lost a partition meanwhile, sends no more of these rows. */
static int
finish(struct archiver *self, struct err *err)
{
	static const struct schema_stage rest = { SCHEMA_STREAMS,
		SCHEMA_TYPED };

	if (verify(self, &schema_stages[0], err) != 0)
		return -1;
	for (unsigned i = 1; i < SCHEMA_STAGES; i++)
		if (owners_look(&self->owners, err) != 0 ||
		    send_held(self, &schema_stages[i], err) != 0)
			return -1;
	return verify(self, &rest, err) == 0 ? commit(self, err) : -1;
}

static int
round_of(struct archiver *self, struct err *err)
{
	if (archive_progress_look(&self->progress, err) != 0)
		return -1;
	if (self->is_open && (see_whether_it_is_the_same(self, err) != 0 ||
				 see_whether_all_went_on(self, err) != 0))
		return -1;
	if (!self->is_open && connect_to(self, err) != 0)
		return -1;
	if (send_changes(self, err) != 0)
		return -1;
	if (self->positions.count > 0)
		return finish(self, err);
	if (commits_are_due(&self->commits))
		return commit(self, err);
	settle(self, false);
	return 0;
}

/* Replicas come back, perhaps at other places.  What was sent and is waited for
 * stays. */
static void
find_again(struct archiver *self)
{
	struct err ignored = { .text = "" };

	if (!self->is_open)
		return;
	heartbeat_rest();
	if (self->positions.count == 0 ||
	    (clickhouse_find(self->client, &ignored) == 0 &&
		clickhouse_cluster(self->client)->shards !=
		    self->sender.shards))
		disconnect(self);
	heartbeat_beat();
}

/* ---- the thread ---- */

static void
rest_until(struct archiver *self, int64_t until_ns)
{
	const struct timespec step = { 0, STEP_NS };
	struct err ignored = { .text = "" };

	heartbeat_rest();
	while (!atomic_load(&self->stop) && clock_monotonic_ns() < until_ns) {
		/* The age of what comes now begins now; the next round says
		 * why the store cannot be read. */
		(void)archive_progress_look(&self->progress, &ignored);
		nanosleep(&step, NULL);
	}
	heartbeat_beat();
}

/* Between the begins of two rounds. */
static int64_t
interval_ns(const struct archiver *self)
{
	int64_t after_ns = self->options.after_ns;

	if (writer_marks_are_complete(self->writer) || after_ns < MARKING_NS)
		return after_ns;
	return MARKING_NS;
}

static int
follow(void *arg, struct err *err)
{
	struct archiver *self = arg;
	int64_t retry_ns = RETRY_NS;

	(void)err;
	while (!atomic_load(&self->stop)) {
		int64_t began_ns = clock_monotonic_ns();
		struct err why = { .text = "" };

		if (round_of(self, &why) == 0) {
			archive_progress_succeed(&self->progress);
			retry_ns = RETRY_NS;
			rest_until(self, began_ns + interval_ns(self));
			continue;
		}
		if (atomic_load(&self->stop))
			break;
		archive_progress_fail(&self->progress, self->is_open,
		    self->owners.is_refused, &why);
		rest_until(self, clock_monotonic_ns() + retry_ns);
		if (retry_ns < RETRY_MAX_NS)
			retry_ns *= 2;
		find_again(self);
	}
	disconnect(self);
	return 0;
}

static void
stop(void *arg)
{
	struct archiver *self = arg;

	atomic_store(&self->stop, true);
}

int
archiver_open(struct archiver **archiver, struct writer *writer,
    const struct archiver_options *options, struct err *err)
{
	struct archiver *self = memory_zero(1, sizeof(*self));

	self->options = *options;
	self->writer = writer;
	self->options.clickhouse.stop = &self->stop;
	writer_await_archive(writer);
	archive_progress_init(&self->progress, writer);
	self->options.clickhouse.enough = QUESTION_COPIES;
	if (clickhouse_open(&self->client, &self->options.clickhouse, "archive",
		err) != 0) {
		archiver_close(&self);
		return -1;
	}
	self->owners = (struct owners){ .client = self->client,
		.stop = &self->stop,
		.store = options->generation,
		.place = owners_place(options->store),
		.endpoint = options->endpoint };
	*archiver = self;
	return 0;
}

int
archiver_start(struct archiver *archiver, const struct thread_watcher *watcher,
    struct err *err)
{
	const struct thread_options how = { .name = "the archiver",
		.run = follow,
		.stop = stop,
		.arg = archiver,
		.has_heartbeat = true,
		/* Intake and answers come first. */
		.is_background = true };

	return thread_start(&archiver->thread, &how, watcher, err);
}

void
archiver_status(
    struct archiver *archiver, struct archive_progress_status *status)
{
	archive_progress_status(&archiver->progress, status);
}

void
archiver_close(struct archiver **archiver)
{
	struct archiver *self = *archiver;

	if (self == NULL)
		return;
	thread_stop(&self->thread);
	clickhouse_close(&self->client);
	archive_progress_clear(&self->progress);
	commits_clear(&self->commits);
	free(self);
	*archiver = NULL;
}
