/*
 * poolscope-aggregator - keeps what agents send, and answers readers.
 *
 * Three threads: this one takes batches in (intake), one carries them into
 * the tables (fold), one answers readers (desk).
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggregator/admin.h"
#include "aggregator/desk.h"
#include "aggregator/fold.h"
#include "aggregator/intake.h"
#include "aggregator/model_dir.h"
#include "aggregator/reader.h"
#include "aggregator/report.h"
#include "proto/clock.h"
#include "proto/instance.h"
#include "proto/log.h"
#include "proto/service.h"

enum {
	INTAKE_QUEUE = 64, /* messages; one peer may be a broker of many */
	READER_QUEUE = 4,
	SESSIONS_PER_HOUR = 1024,
};
#define SETTLE_NS       (2 * NS_PER_SECOND)
#define CATCH_UP_NS     (NS_PER_SECOND / 50)
#define CATCH_UP_MAX_NS (5 * NS_PER_SECOND)

static struct {
	const char *store, *models, *backup;
	struct opt_list listen, reader;
	int64_t retain_ns, journal_keep_ns, seal_after_ns;
	int64_t retain_raw_ns, retain_10s_ns, retain_1min_ns, retain_10min_ns;
	uint64_t retain_bytes, journal_bytes, map_bytes, queue, sessions;
	bool insecure, force_network_fs, verify, compact, rebuild, seal;
} values = {
	/* By size, not by age: history that is imported is old on arrival. */
	.retain_bytes = UINT64_C(32) << 30,
	.journal_keep_ns = 600 * NS_PER_SECOND,
	.journal_bytes = UINT64_C(1) << 30,
	.seal_after_ns = 120 * NS_PER_SECOND,
	.queue = INTAKE_QUEUE,
	.sessions = SESSIONS_PER_HOUR,
};

static const struct opt options[] = {
	{ "store", 0, OPT_TEXT, &values.store, "DIR",
	    "where everything is kept, default store in the instance", NULL,
	    false },
	{ "listen", 0, OPT_LIST, &values.listen, "ENDPOINT",
	    "door for brokers and agents; may be repeated", NULL, false },
	{ "reader", 0, OPT_LIST, &values.reader, "ENDPOINT",
	    "door for readers; may be repeated", NULL, false },
	{ "models", 0, OPT_TEXT, &values.models, "DIR",
	    "where the models are; empty: no phases", NULL, false },
	{ "retain", 0, OPT_DURATION, &values.retain_ns, "TIME",
	    "records of a time longer ago go; 0, the default: none", NULL,
	    false },
	{ "retain-raw", 0, OPT_DURATION, &values.retain_raw_ns, "TIME",
	    "samples go before that, and leave their tiers; 0, the default: "
	    "never",
	    NULL, false },
	{ "retain-10s", 0, OPT_DURATION, &values.retain_10s_ns, "TIME",
	    "the same of samples by 10 seconds", NULL, false },
	{ "retain-1min", 0, OPT_DURATION, &values.retain_1min_ns, "TIME",
	    "... by minutes", NULL, false },
	{ "retain-10min", 0, OPT_DURATION, &values.retain_10min_ns, "TIME",
	    "... by 10 minutes", NULL, false },
	{ "retain-bytes", 0, OPT_BYTES, &values.retain_bytes, "BYTES",
	    "the finest samples, then the oldest records go when the tables "
	    "are larger; default 32GiB, 0: never",
	    NULL, false },
	{ "seal-after", 0, OPT_DURATION, &values.seal_after_ns, "TIME",
	    "pack hours that are over and rest for so long; default 2m, 0: "
	    "never",
	    NULL, false },
	{ "journal-bytes", 0, OPT_BYTES, &values.journal_bytes, "BYTES",
	    "senders wait when more than this is not folded yet", NULL, false },
	{ "journal-keep", 0, OPT_DURATION, &values.journal_keep_ns, "TIME",
	    "how long batches stay in the journal once folded", NULL, false },
	{ "map-bytes", 0, OPT_BYTES, &values.map_bytes, "BYTES",
	    "bound of journal and of tables, default 1 TiB each", NULL, false },
	{ "queue", 0, OPT_COUNT, &values.queue, "N",
	    "messages queued per peer and direction", NULL, false },
	{ "sessions-per-hour", 0, OPT_COUNT, &values.sessions, "N",
	    "new sessions that one node may begin; 0: any number", NULL,
	    false },
	{ "insecure", 0, OPT_FLAG, &values.insecure, NULL,
	    "let a door without keys be open to the network", NULL, false },
	{ "force-network-fs", 0, OPT_FLAG, &values.force_network_fs, NULL,
	    "keep the store on a network file system, at your risk", NULL,
	    false },
	{ "verify", 0, OPT_FLAG, &values.verify, NULL,
	    "check every row of the store, then exit", NULL, false },
	{ "backup", 0, OPT_TEXT, &values.backup, "DIR",
	    "copy the store to a new directory, then exit", NULL, false },
	{ "seal", 0, OPT_FLAG, &values.seal, NULL,
	    "pack all records, whatever hours are over, then exit", NULL,
	    false },
	{ "compact", 0, OPT_FLAG, &values.compact, NULL,
	    "give the space of deleted rows back, then exit", NULL, false },
	{ "rebuild", 0, OPT_FLAG, &values.rebuild, NULL,
	    "derive phases and statistics again, then exit", NULL, false },
	{ .name = NULL },
};

static struct {
	struct lock lock;
	struct journal *journal;
	struct fold *fold;
	struct reader *reader;
	struct intake *intake;
	struct desk *desk;
	struct loop_timer catch_up;
	int64_t catch_up_until_ns;
	char store[INSTANCE_PATH_BYTES], node[INSTANCE_PATH_BYTES];
	char models[MODEL_DIR_BYTES];
	char intake_endpoint[INSTANCE_PATH_BYTES];
	char reader_endpoint[INSTANCE_PATH_BYTES];
} self;

/* ---- options ---- */

static struct fold_options
fold_options(void)
{
	const char *models = values.models;

	if (models == NULL)
		models = model_dir(self.models);
	else if (models[0] == '\0')
		models = NULL;
	return (struct fold_options){
		.models = models,
		.retain_ns = values.retain_ns,
		.retain_tier_ns = { values.retain_raw_ns, values.retain_10s_ns,
		    values.retain_1min_ns, values.retain_10min_ns },
		.retain_bytes = values.retain_bytes,
		.seal_after_ns = values.seal_after_ns,
		.map_bytes = values.map_bytes,
		.allow_network = values.force_network_fs,
	};
}

static int
default_endpoint(struct opt_list *list, char to[static INSTANCE_PATH_BYTES],
    const char *name, struct err *err)
{
	char run[INSTANCE_PATH_BYTES];

	if (list->count > 0)
		return 0;
	if (instance_endpoint(to, name, err) != 0 ||
	    instance_path(run, "run", err) != 0 ||
	    instance_make_dir(run, err) != 0)
		return -1;
	list->at[list->count++] = to;
	return 0;
}

static int
find_places(struct err *err)
{
	const char *why;

	if (values.store != NULL &&
	    snprintf(self.store, sizeof(self.store), "%s", values.store) >=
		(int)sizeof(self.store))
		return err_set(err, "--store: the path is too long");
	if (values.store == NULL &&
	    instance_path(self.store, "store", err) != 0)
		return -1;
	return instance_node(self.node, NULL, &why, err);
}

/* ---- verbs: run and exit ---- */

static bool
is_verb(void)
{
	return values.verify || values.compact || values.rebuild ||
	       values.seal || values.backup != NULL;
}

static int
run_verbs(struct err *err)
{
	struct fold_options how;

	if (values.verify && admin_verify(self.store, err) != 0)
		return -1;
	if (values.backup != NULL &&
	    admin_backup(self.store, values.backup, err) != 0)
		return -1;
	if (values.rebuild) {
		how = fold_options();
		if (admin_rebuild(self.store, &how, err) != 0)
			return -1;
	}
	if (values.seal) {
		how = fold_options();
		if (admin_seal(self.store, &how, err) != 0)
			return -1;
	}
	return values.compact ? admin_compact(self.store, err) : 0;
}

/* ---- the fold, as the others see it ---- */

static void
wake_fold(void *arg)
{
	fold_wake(arg);
}

static uint64_t
position_of_fold(void *arg)
{
	return fold_position(arg);
}

/* From the fold's thread. */
static void
on_fold_failed(void *arg)
{
	loop_wake(arg);
}

static void
on_wake(void *arg)
{
	struct loop *loop = arg;
	struct err err = { "" };

	if (!fold_failed(self.fold, &err))
		return;
	log_error("tables are broken, ending: %s", err.text);
	loop_quit(loop, EXIT_FAILURE);
}

/* From the desk's thread.  Who asks after an acknowledgement must see what was
 * acknowledged; a fold that is far behind must not make readers wait. */
static void
settle(void *arg)
{
	struct intake_status intake;

	(void)arg;
	intake_status(self.intake, &intake);
	fold_await(self.fold, intake.next - 1, SETTLE_NS);
}

/* From the desk's thread. */
static void
put_status(void *arg, struct wire_writer *w)
{
	struct intake_status intake;
	struct fold_status fold;
	struct desk_status desk;

	(void)arg;
	intake_status(self.intake, &intake);
	fold_status(self.fold, &fold);
	desk_status(self.desk, &desk);
	report_put(w, text_of(self.node), &intake, &fold, &desk);
}

/* ---- start and stop ---- */

static int
open_store(struct err *err)
{
	const struct journal_options how = {
		.map_bytes = values.map_bytes,
		.allow_network = values.force_network_fs,
	};
	struct fold_options fold;

	if (instance_make_dir(self.store, err) != 0 ||
	    admin_lock(&self.lock, self.store, err) != 0 ||
	    journal_open(&self.journal, self.store, &how, err) != 0)
		return -1;
	db_clear_stale_readers(journal_db(self.journal));
	fold = fold_options();
	if (fold_open(&self.fold, self.store, self.journal, &fold, err) != 0)
		return -1;
	/* Batches with numbers that the tables have already would never be
	 * folded. */
	if (fold_position(self.fold) >= journal_next(self.journal))
		return err_set(err,
		    "%s: journal and tables are not of one store: the tables "
		    "are at %llu, the journal ends at %llu",
		    self.store, (unsigned long long)fold_position(self.fold),
		    (unsigned long long)journal_next(self.journal) - 1);
	return reader_open_shared(
	    &self.reader, fold_db(self.fold), self.journal, err);
}

static int
open_doors(struct loop *loop, struct err *err)
{
	const struct room_follower follower = { self.fold, wake_fold,
		position_of_fold };
	const struct desk_source source = { self.reader, settle, put_status,
		NULL };
	const struct intake_options intake = {
		.listen = &values.listen,
		.queue_messages = (uint32_t)values.queue,
		.insecure = values.insecure,
		.journal_bytes = values.journal_bytes,
		.journal_keep_ns = values.journal_keep_ns,
		.sessions_per_hour = values.sessions,
	};
	const struct desk_options desk = {
		.listen = &values.reader,
		.queue_messages = READER_QUEUE,
		.insecure = values.insecure,
		.generation = journal_generation(self.journal),
	};

	if (default_endpoint(
		&values.listen, self.intake_endpoint, "intake", err) != 0 ||
	    default_endpoint(
		&values.reader, self.reader_endpoint, "reader", err) != 0)
		return -1;
	if (intake_open(
		&self.intake, loop, self.journal, &intake, &follower, err) != 0)
		return -1;
	return desk_open(&self.desk, &desk, &source, err);
}

static int
start(struct loop *loop, struct err *err)
{
	if (values.queue < 1 || values.queue > 1024)
		return err_set(err, "--queue is 1 to 1024");
	if (find_places(err) != 0)
		return -1;
	if (is_verb()) {
		if (run_verbs(err) != 0)
			return -1;
		exit(EXIT_SUCCESS);
	}
	if (open_store(err) != 0 || open_doors(loop, err) != 0)
		return -1;
	loop_set_wake(loop, on_wake, loop);
	if (fold_start(self.fold, on_fold_failed, loop, err) != 0)
		return -1;
	for (uint32_t i = 0; i < values.listen.count; i++)
		log_info("listening for batches on %s", values.listen.at[i]);
	for (uint32_t i = 0; i < values.reader.count; i++)
		log_info("listening for readers on %s", values.reader.at[i]);
	return desk_start(self.desk, err);
}

/* Readers of the directory, which find no process to ask, should find
 * everything that was acknowledged: the fold catches up before the end.  After
 * a flood that could take long, and what is left is in the journal. */
static void
on_catching_up(void *arg, struct loop_timer *timer)
{
	uint64_t last = journal_next(self.journal) - 1;
	struct fold_status fold;

	(void)timer;
	fold_status(self.fold, &fold);
	if (!fold_await(self.fold, last, 0)) {
		if (!fold.full && clock_monotonic_ns() < self.catch_up_until_ns)
			return;
		log_info("%llu batches are left for the next start to fold",
		    (unsigned long long)(last - fold.position));
	}
	loop_quit(arg, EXIT_SUCCESS);
}

static void
stop(struct loop *loop)
{
	int64_t now_ns = clock_monotonic_ns();

	intake_stop(self.intake);
	self.catch_up_until_ns = now_ns + CATCH_UP_MAX_NS;
	self.catch_up =
	    (struct loop_timer){ .on_timer = on_catching_up, .arg = loop };
	loop_set_timer(loop, &self.catch_up, now_ns, CATCH_UP_NS);
}

static void
clear(void)
{
	desk_close(&self.desk);
	intake_close(&self.intake);
	reader_close(&self.reader);
	fold_close(&self.fold);
	journal_close(&self.journal);
	lock_release(&self.lock);
}

int
main(int argc, char **argv)
{
	static const struct service service = {
		.name = "poolscope-aggregator",
		.summary = "keep what agents send, and answer readers",
		.options = options,
		.start = start,
		.stop = stop,
		.clear = clear,
	};

	return service_main(&service, argc, argv);
}
