/*
 * poolscope-aggregator - store the records of agents and answer queries.
 *
 * This thread receives batches (ingest), one indexes them into the tables
 * (writer), some answer queries (query_server), one copies the tables to an
 * archive (archiver).  With --archive-only it is a gateway to an archive and
 * has none of these but queries (daemon/gateway.h).
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "aggregator/admin/admin.h"
#include "aggregator/archive/archiver.h"
#include "aggregator/daemon/gateway.h"
#include "aggregator/daemon/past.h"
#include "aggregator/daemon/settings.h"
#include "aggregator/daemon/status.h"
#include "aggregator/ingest/ingest.h"
#include "aggregator/marks/marks.h"
#include "aggregator/query/reader.h"
#include "aggregator/query/server.h"
#include "aggregator/writer/writer.h"
#include "proto/config/instance.h"
#include "proto/net/endpoint.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/service/service.h"

enum { READER_QUEUE = 4 }; /* messages */
#define STALE_READERS_NS (10 * NS_PER_SECOND)
#define CATCH_UP_NS      (NS_PER_SECOND / 50)
#define CATCH_UP_MAX_NS  (5 * NS_PER_SECOND)

struct aggregator {
	struct aggregator_settings_given given;
	struct lockfile lockfile;
	struct journal *journal;
	struct writer *writer;
	struct reader *reader;
	struct auth *auth;
	struct ingest *ingest;
	struct query_server *query_server;
	struct archiver *archiver; /* NULL: without an archive */
	struct past *past;         /* the same */
	struct gateway *gateway;   /* NULL: it has a store */
	struct loop *loop;
	struct loop_timer catch_up, stale_readers;
	int64_t catch_up_until_ns;
	struct aggregator_settings aggregator_settings;
};

/* ---- the indexer, for the other threads ---- */

static void
wake_indexer(void *arg)
{
	writer_wake(arg);
}

static uint64_t
position_of_indexer(void *arg)
{
	return writer_position(arg);
}

/* Called by the thread of the query server. */
static uint64_t
entry_needed(void *arg, struct text partition)
{
	struct aggregator *self = arg;
	struct ingest_status ingest;

	if (partition.bytes > 0)
		return ingest_newest(self->ingest, partition);
	ingest_status(self->ingest, &ingest);
	return ingest.next - 1;
}

/* The same.  Asking makes the indexer hurry. */
static enum query_server_ready
is_indexed(void *arg, uint64_t number)
{
	struct aggregator *self = arg;
	struct writer_status indexer;

	if (writer_await(self->writer, number, 0))
		return QUERY_SERVER_READY;
	writer_status(self->writer, &indexer);
	return indexer.full ? QUERY_SERVER_STUCK : QUERY_SERVER_SOON;
}

/* Called by any thread of the query server. */
static void
put_status(void *arg, const struct query_server_status *query_server,
    struct wire_writer *w)
{
	struct aggregator *self = arg;
	struct ingest_status ingest;
	struct writer_status indexer;
	struct archive_progress_status archiver;
	struct auth_counters auth;

	ingest_status(self->ingest, &ingest);
	writer_status(self->writer, &indexer);
	auth_counters(self->auth, &auth);
	if (self->archiver != NULL)
		archiver_status(self->archiver, &archiver);
	status_put(w, text_of(self->aggregator_settings.node), &ingest,
	    &indexer, query_server, &auth,
	    self->archiver != NULL ? &archiver : NULL, self->given.insecure);
}

/* The same. */
static int
answer(void *arg, struct reader *reader, const struct wire_header *header,
    const struct wire_query *query, struct wire_writer *w, bool *last,
    struct err *err)
{
	struct aggregator *self = arg;

	return past_answer(self->past, reader, header, query, w, last, err);
}

/* ---- start and stop ---- */

static int
open_store(struct aggregator *self, struct err *err)
{
	const struct journal_options how = {
		.map_bytes = aggregator_settings_map_bytes(&self->given),
		.allow_network = self->given.force_network_fs,
	};
	struct writer_options indexer;

	if (instance_make_dir(self->aggregator_settings.store, err) != 0 ||
	    admin_lock(&self->lockfile, self->aggregator_settings.store, err) !=
		0 ||
	    journal_open(&self->journal, self->aggregator_settings.store, &how,
		err) != 0)
		return -1;
	indexer = aggregator_settings_indexer(
	    &self->given, &self->aggregator_settings);
	if (writer_open(&self->writer, self->aggregator_settings.store,
		self->journal, &indexer, err) != 0)
		return -1;
	/* The indexer would skip batches whose numbers the tables already
	 * have. */
	if (writer_position(self->writer) >= journal_next(self->journal))
		return err_set(err,
		    "%s: journal and tables belong to different stores: the "
		    "tables are at entry %llu, the journal ends at %llu; "
		    "restore a backup",
		    self->aggregator_settings.store,
		    (unsigned long long)writer_position(self->writer),
		    (unsigned long long)journal_next(self->journal) - 1);
	if (reader_open_shared(&self->reader, writer_db(self->writer),
		self->journal, err) != 0)
		return -1;
	if (self->given.archive != NULL) {
		self->past = past_new(&self->given);
		reader_of_retained(self->reader);
	}
	return 0;
}

/* A program that reads the directory of the store and dies would hold the
 * pages that it read for ever. */
static void
on_stale_readers(void *arg, struct loop_timer *timer)
{
	struct aggregator *self = arg;
	int dead = db_clear_stale_readers(journal_db(self->journal)) +
		   db_clear_stale_readers(writer_db(self->writer));

	(void)timer;
	if (dead > 0)
		log_info("%d readers of the store ended without closing it; "
			 "their places are free again",
		    dead);
}

/* Brokers of this host forward the identity of keys, too: the authorized keys
 * are needed even without a TCP listener. */
static int
open_auth(struct aggregator *self, struct loop *loop, struct err *err)
{
	const struct opt_list *listen = &self->given.listen;
	const struct opt_list *query_server = &self->given.reader;
	const struct auth_options how = {
		.server_key = self->given.server_key,
		.listeners = !self->given.insecure &&
			     (endpoint_any_tcp(listen->at, listen->count) ||
				 endpoint_any_tcp(
				     query_server->at, query_server->count)),
		.checks_forwarded = true,
		.watcher = loop_watcher(loop),
	};

	return auth_open(&self->auth, &how, err);
}

static bool
is_clock_right(void *arg)
{
	const struct aggregator *self = arg;
	struct writer_status status;

	writer_status(self->writer, &status);
	return !status.clock_in_doubt;
}

static struct ingest_options
ingest_as_given(struct aggregator *self)
{
	return (struct ingest_options){
		.auth = self->auth,
		.listen = &self->given.listen,
		.queue_messages = (uint32_t)self->given.queue,
		.insecure = self->given.insecure,
		.connects_per_second = (uint32_t)self->given.connects,
		.journal_bytes = self->given.journal_bytes,
		.journal_keep_ns = self->given.journal_keep_ns,
		.sessions_per_hour = self->given.sessions,
		.key_bytes_per_second = self->given.key_bytes_per_second,
		.accept = &self->given.accept,
		.retain_ns = self->given.retain_ns,
		.is_clock_right = is_clock_right,
		.arg = self,
	};
}

static int
open_listeners(struct aggregator *self, struct loop *loop, struct err *err)
{
	const struct backpressure_follower follower = { self->writer,
		wake_indexer, position_of_indexer };
	const struct query_server_source source = { .reader = self->reader,
		.answer = self->past != NULL ? answer : NULL,
		.needs = entry_needed,
		.is_indexed = is_indexed,
		.status = put_status,
		.arg = self };
	const struct ingest_options ingest = ingest_as_given(self);
	const struct query_server_options query_server = {
		.auth = self->auth,
		.listen = &self->given.reader,
		.queue_messages = READER_QUEUE,
		.insecure = self->given.insecure,
		.connects_per_second = (uint32_t)self->given.connects,
		.generation = journal_generation(self->journal),
	};

	if (aggregator_settings_listeners(
		&self->given, &self->aggregator_settings, err) != 0)
		return -1;
	if (ingest_open(&self->ingest, loop, self->journal, &ingest, &follower,
		err) != 0)
		return -1;
	return query_server_open(
	    &self->query_server, &query_server, &source, err);
}

/* Whoever forgets the option would find a full disk. */
static int
warn_of_archive(struct aggregator *self, struct err *err)
{
	struct db_txn *txn;

	if (db_begin(writer_db(self->writer), false, &txn, err) != 0)
		return -1;
	if (marks_are_kept(txn))
		log_warn("the store has an archive, but --archive is not "
			 "given: nothing new is compacted or deleted until "
			 "it is; poolscope admin end-archive ends that");
	db_abort(&txn);
	return 0;
}

static int
open_archiver(struct aggregator *self, struct err *err)
{
	struct archiver_options how =
	    aggregator_settings_archiver(&self->given);

	if (self->given.archive == NULL)
		return warn_of_archive(self, err);
	how.store = self->aggregator_settings.store;
	how.generation = journal_generation(self->journal);
	return archiver_open(&self->archiver, self->writer, &how, err);
}

static int
check(const void *values, struct err *err)
{
	return aggregator_settings_check(values, err);
}

static bool
declare_files(const void *values, struct sandbox *sandbox)
{
	sandbox_sockets();
	aggregator_settings_sandbox(values, sandbox);
	return true;
}

static int
start(void *arg, struct loop *loop, struct err *err)
{
	struct aggregator *self = arg;
	const struct thread_watcher watcher = loop_watcher(loop);

	self->loop = loop;
	if (self->given.archive_only != NULL)
		return gateway_open(&self->gateway, &self->given, loop, err);
	self->stale_readers =
	    (struct loop_timer){ .on_timer = on_stale_readers, .arg = self };
	if (aggregator_settings_resolve(
		&self->given, &self->aggregator_settings, err) != 0)
		return -1;
	if (open_store(self, err) != 0 || open_auth(self, loop, err) != 0 ||
	    open_listeners(self, loop, err) != 0 ||
	    open_archiver(self, err) != 0)
		return -1;
	if (writer_start(self->writer, &watcher, err) != 0)
		return -1;
	if (self->archiver != NULL &&
	    archiver_start(self->archiver, &watcher, err) != 0)
		return -1;
	on_stale_readers(self, &self->stale_readers);
	loop_set_timer(loop, &self->stale_readers,
	    clock_monotonic_ns() + STALE_READERS_NS, STALE_READERS_NS);
	for (uint32_t i = 0; i < self->given.listen.count; i++)
		log_info(
		    "listening for batches on %s", self->given.listen.at[i]);
	for (uint32_t i = 0; i < self->given.reader.count; i++)
		log_info(
		    "listening for readers on %s", self->given.reader.at[i]);
	return query_server_start(self->query_server, &watcher, err);
}

/* Wait until the indexer has caught up, so that whoever opens the directory
 * afterwards finds everything that was acknowledged.  After a burst this could
 * take long, so the wait is bounded; the rest stays in the journal. */
static void
on_catching_up(void *arg, struct loop_timer *timer)
{
	struct aggregator *self = arg;
	uint64_t last = journal_next(self->journal) - 1;
	struct writer_status indexer;

	(void)timer;
	writer_status(self->writer, &indexer);
	if (!writer_await(self->writer, last, 0)) {
		if (!indexer.full && !indexer.is_damaged &&
		    clock_monotonic_ns() < self->catch_up_until_ns)
			return;
		log_info("stopping with %llu batches not indexed; the next "
			 "start indexes them",
		    (unsigned long long)(last - indexer.position));
	}
	loop_quit(self->loop, EXIT_SUCCESS);
}

static int
renew_auth(void *arg, struct loop *loop, struct err *err)
{
	struct aggregator *self = arg;
	bool rekeyed = false;

	if (self->gateway != NULL)
		return gateway_renew_auth(self->gateway, err);
	if (auth_reload(self->auth, &rekeyed, err) != 0)
		return -1;
	if (!rekeyed)
		return 0;
	log_info("the server key has changed: binding the TCP listeners again");
	query_server_rekey(self->query_server);
	if (ingest_rekey(self->ingest, err) == 0)
		return 0;
	log_error("exiting: %s", err->text);
	loop_quit(loop, EXIT_FAILURE);
	return 0;
}

static const struct service_renewal renewals[] = {
	{ "authorized keys and server key", renew_auth },
	{ .what = NULL },
};

static int
reload(void *arg, struct loop *loop, struct err *err)
{
	struct aggregator *self = arg;
	const struct ingest_options ingest = ingest_as_given(self);
	const struct writer_options indexer =
	    aggregator_settings_retention(&self->given);

	(void)loop;
	(void)err;
	if (self->gateway != NULL)
		return 0;
	ingest_change(self->ingest, &ingest);
	writer_change(self->writer, &indexer);
	/* poolscope-admin retain-now may have confirmed the clock. */
	writer_wake(self->writer);
	return 0;
}

static void
stop(void *arg, struct loop *loop)
{
	struct aggregator *self = arg;
	int64_t now_ns = clock_monotonic_ns();

	if (self->gateway != NULL) {
		loop_quit(loop, EXIT_SUCCESS);
		return;
	}
	ingest_stop(self->ingest);
	self->catch_up_until_ns = now_ns + CATCH_UP_MAX_NS;
	self->catch_up =
	    (struct loop_timer){ .on_timer = on_catching_up, .arg = self };
	loop_set_timer(loop, &self->catch_up, now_ns, CATCH_UP_NS);
}

static void
clear(void *arg)
{
	struct aggregator *self = arg;

	gateway_close(&self->gateway);
	query_server_close(&self->query_server);
	past_free(&self->past);
	archiver_close(&self->archiver);
	ingest_close(&self->ingest);
	auth_close(&self->auth);
	reader_close(&self->reader);
	writer_close(&self->writer);
	journal_close(&self->journal);
	lockfile_release(&self->lockfile);
}

int
main(int argc, char **argv)
{
	struct aggregator self = { .given = aggregator_settings_default };
	const struct service service = {
		.name = "poolscope-aggregator",
		.summary = "store the records of agents and answer queries",
		.examples = "poolscope aggregator --dir /var/lib/poolscope\n"
			    "poolscope aggregator --reader tcp://0.0.0.0:5571 "
			    "--retain 90d\n",
		.options = aggregator_settings_options,
		.values = &self.given,
		.arg = &self,
		.check = check,
		.declare_files = declare_files,
		.start = start,
		.stop = stop,
		.renewals = renewals,
		.reload = reload,
		.clear = clear,
	};

	return service_main(&service, argc, argv);
}
