/*
 * poolscope-aggregator - store the records of agents and answer queries.
 *
 * Three threads: this one receives batches (ingest), one indexes them into the
 * tables (writer), one answers queries (query_server).
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "aggregator/admin/admin.h"
#include "aggregator/daemon/settings.h"
#include "aggregator/daemon/status.h"
#include "aggregator/ingest/ingest.h"
#include "aggregator/query/reader.h"
#include "aggregator/query/server.h"
#include "aggregator/writer/writer.h"
#include "proto/config/instance.h"
#include "proto/net/endpoint.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/service/service.h"

enum { READER_QUEUE = 4 }; /* messages */
#define SETTLE_NS       (2 * NS_PER_SECOND)
#define CATCH_UP_NS     (NS_PER_SECOND / 50)
#define CATCH_UP_MAX_NS (5 * NS_PER_SECOND)

static struct {
	struct lockfile lockfile;
	struct journal *journal;
	struct writer *writer;
	struct reader *reader;
	struct auth *auth;
	struct ingest *ingest;
	struct query_server *query_server;
	struct loop_timer catch_up;
	int64_t catch_up_until_ns;
	struct aggregator_settings aggregator_settings;
} self;

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

/* Called by the thread of the query server.  A reader that asks after an
 * acknowledgement must find what was acknowledged; an indexer that lags far
 * behind must not block readers. */
static void
settle(void *arg)
{
	struct ingest_status intake;

	(void)arg;
	ingest_status(self.ingest, &intake);
	writer_await(self.writer, intake.next - 1, SETTLE_NS);
}

/* Called by the thread of the query server. */
static void
put_status(void *arg, struct wire_writer *w)
{
	struct ingest_status intake;
	struct writer_status indexer;
	struct query_server_status query_server;
	struct auth_counters gate;

	(void)arg;
	ingest_status(self.ingest, &intake);
	writer_status(self.writer, &indexer);
	query_server_status(self.query_server, &query_server);
	auth_counters(self.auth, &gate);
	status_put(w, text_of(self.aggregator_settings.node), &intake, &indexer,
	    &query_server, &gate, aggregator_settings_given.insecure);
}

/* ---- start and stop ---- */

static int
open_store(struct err *err)
{
	const struct journal_options how = {
		.map_bytes = aggregator_settings_given.map_bytes,
		.allow_network = aggregator_settings_given.force_network_fs,
	};
	struct writer_options indexer;

	if (instance_make_dir(self.aggregator_settings.store, err) != 0 ||
	    admin_lock(&self.lockfile, self.aggregator_settings.store, err) !=
		0 ||
	    journal_open(
		&self.journal, self.aggregator_settings.store, &how, err) != 0)
		return -1;
	db_clear_stale_readers(journal_db(self.journal));
	indexer = aggregator_settings_indexer(&self.aggregator_settings);
	if (writer_open(&self.writer, self.aggregator_settings.store,
		self.journal, &indexer, err) != 0)
		return -1;
	/* The indexer would skip batches whose numbers the tables already
	 * have. */
	if (writer_position(self.writer) >= journal_next(self.journal))
		return err_set(err,
		    "%s: journal and tables belong to different stores: the "
		    "tables are at entry %llu, the journal ends at %llu; "
		    "restore a backup",
		    self.aggregator_settings.store,
		    (unsigned long long)writer_position(self.writer),
		    (unsigned long long)journal_next(self.journal) - 1);
	return reader_open_shared(
	    &self.reader, writer_db(self.writer), self.journal, err);
}

/* Brokers of this host forward the identity of keys, too: the authorized keys
 * are needed even without a TCP listener. */
static int
open_gate(struct loop *loop, struct err *err)
{
	const struct opt_list *intake = &aggregator_settings_given.listen;
	const struct opt_list *query_server = &aggregator_settings_given.reader;
	const struct auth_options how = {
		.server_key = aggregator_settings_given.server_key,
		.doors = !aggregator_settings_given.insecure &&
			 (endpoint_any_tcp(intake->at, intake->count) ||
			     endpoint_any_tcp(
				 query_server->at, query_server->count)),
		.keeps = true,
		.watcher = loop_watcher(loop),
	};

	return auth_open(&self.auth, &how, err);
}

static struct ingest_options
intake_as_given(void)
{
	return (struct ingest_options){
		.auth = self.auth,
		.listen = &aggregator_settings_given.listen,
		.queue_messages = (uint32_t)aggregator_settings_given.queue,
		.insecure = aggregator_settings_given.insecure,
		.connects_per_second =
		    (uint32_t)aggregator_settings_given.connects,
		.journal_bytes = aggregator_settings_given.journal_bytes,
		.journal_keep_ns = aggregator_settings_given.journal_keep_ns,
		.sessions_per_hour = aggregator_settings_given.sessions,
		.key_bytes = aggregator_settings_given.key_bytes,
		.accept = &aggregator_settings_given.accept,
		.restore_wait_ns = aggregator_settings_given.restore_wait_ns,
	};
}

static int
open_doors(struct loop *loop, struct err *err)
{
	const struct backpressure_follower follower = { self.writer,
		wake_indexer, position_of_indexer };
	const struct query_server_source source = { self.reader, settle,
		put_status, NULL };
	const struct ingest_options intake = intake_as_given();
	const struct query_server_options query_server = {
		.auth = self.auth,
		.listen = &aggregator_settings_given.reader,
		.queue_messages = READER_QUEUE,
		.insecure = aggregator_settings_given.insecure,
		.connects_per_second =
		    (uint32_t)aggregator_settings_given.connects,
		.generation = journal_generation(self.journal),
	};

	if (aggregator_settings_listeners(&self.aggregator_settings, err) != 0)
		return -1;
	if (ingest_open(
		&self.ingest, loop, self.journal, &intake, &follower, err) != 0)
		return -1;
	return query_server_open(
	    &self.query_server, &query_server, &source, err);
}

static bool
fence(struct sandbox *sandbox)
{
	sandbox_sockets();
	aggregator_settings_sandbox(sandbox);
	return true;
}

static int
start(struct loop *loop, struct err *err)
{
	const struct thread_watcher watcher = loop_watcher(loop);

	if (aggregator_settings_resolve(&self.aggregator_settings, err) != 0)
		return -1;
	if (open_store(err) != 0 || open_gate(loop, err) != 0 ||
	    open_doors(loop, err) != 0)
		return -1;
	if (writer_start(self.writer, &watcher, err) != 0)
		return -1;
	for (uint32_t i = 0; i < aggregator_settings_given.listen.count; i++)
		log_info("listening for batches on %s",
		    aggregator_settings_given.listen.at[i]);
	for (uint32_t i = 0; i < aggregator_settings_given.reader.count; i++)
		log_info("listening for readers on %s",
		    aggregator_settings_given.reader.at[i]);
	return query_server_start(self.query_server, &watcher, err);
}

/* After the end, readers that open the directory should find everything that
 * was acknowledged: the indexer catches up first.  After a burst this could
 * take long; what is not indexed stays in the journal. */
static void
on_catching_up(void *arg, struct loop_timer *timer)
{
	uint64_t last = journal_next(self.journal) - 1;
	struct writer_status indexer;

	(void)timer;
	writer_status(self.writer, &indexer);
	if (!writer_await(self.writer, last, 0)) {
		if (!indexer.full &&
		    clock_monotonic_ns() < self.catch_up_until_ns)
			return;
		log_info("stopping with %llu batches not indexed; the next "
			 "start indexes them",
		    (unsigned long long)(last - indexer.position));
	}
	loop_quit(arg, EXIT_SUCCESS);
}

/* Revoked keys lose their access even if the rest of the reload fails. */
static int
renew(struct loop *loop, struct err *err)
{
	bool rekeyed = false;

	if (auth_reload(self.auth, &rekeyed, err) != 0)
		return -1;
	if (!rekeyed)
		return 0;
	log_info("the server key has changed: binding the TCP listeners again");
	query_server_rekey(self.query_server);
	if (ingest_rekey(self.ingest, err) == 0)
		return 0;
	loop_quit(loop, EXIT_FAILURE);
	return -1;
}

static int
reload(struct loop *loop, struct err *err)
{
	const struct ingest_options intake = intake_as_given();
	const struct writer_options indexer = aggregator_settings_retention();

	(void)loop;
	(void)err;
	ingest_change(self.ingest, &intake);
	writer_change(self.writer, &indexer);
	writer_wake(
	    self.writer); /* a move may have added or removed partitions */
	return 0;
}

static void
stop(struct loop *loop)
{
	int64_t now_ns = clock_monotonic_ns();

	ingest_stop(self.ingest);
	self.catch_up_until_ns = now_ns + CATCH_UP_MAX_NS;
	self.catch_up =
	    (struct loop_timer){ .on_timer = on_catching_up, .arg = loop };
	loop_set_timer(loop, &self.catch_up, now_ns, CATCH_UP_NS);
}

static void
clear(void)
{
	query_server_close(&self.query_server);
	ingest_close(&self.ingest);
	auth_close(&self.auth);
	reader_close(&self.reader);
	writer_close(&self.writer);
	journal_close(&self.journal);
	lockfile_release(&self.lockfile);
}

int
main(int argc, char **argv)
{
	static const struct service service = {
		.name = "poolscope-aggregator",
		.summary = "store the records of agents and answer queries",
		.options = aggregator_settings_options,
		.check = aggregator_settings_check,
		.fence = fence,
		.start = start,
		.stop = stop,
		.renew = renew,
		.reload = reload,
		.clear = clear,
	};

	return service_main(&service, argc, argv);
}
