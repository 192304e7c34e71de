/*
 * poolscope-aggregator - keeps what agents send, and answers readers.
 *
 * Three threads: this one takes batches in (intake), one carries them into
 * the tables (fold), one answers readers (desk).
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <stdlib.h>

#include "aggregator/admin/admin.h"
#include "aggregator/daemon/settings.h"
#include "aggregator/daemon/status.h"
#include "aggregator/ingest/ingest.h"
#include "aggregator/model/show.h"
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
	struct lock lock;
	struct journal *journal;
	struct fold *fold;
	struct reader *reader;
	struct gate *gate;
	struct intake *intake;
	struct desk *desk;
	struct loop_timer catch_up;
	int64_t catch_up_until_ns;
	struct setup setup;
} self;

/* ---- verbs: run and exit ---- */

static bool
is_verb(void)
{
	return setup_given.verify || setup_given.compact ||
	       setup_given.list_models || setup_given.rebuild ||
	       setup_given.seal || setup_given.backup != NULL ||
	       setup_given.restore != NULL;
}

static int
run_verbs(struct err *err)
{
	struct fold_options how;

	if (setup_given.restore != NULL &&
	    admin_restore(self.setup.store, setup_given.restore,
		setup_given.set_aside, setup_given.force_network_fs, err) != 0)
		return -1;
	if (admin_find(self.setup.store, err) != 0)
		return -1;
	if (setup_given.list_models &&
	    admin_list_models(self.setup.store, err) != 0)
		return -1;
	if (setup_given.verify && admin_verify(self.setup.store, err) != 0)
		return -1;
	if (setup_given.backup != NULL &&
	    admin_backup(self.setup.store, setup_given.backup, err) != 0)
		return -1;
	if (setup_given.rebuild) {
		how = setup_fold(&self.setup);
		if (admin_rebuild(self.setup.store, &how, err) != 0)
			return -1;
	}
	if (setup_given.seal) {
		how = setup_fold(&self.setup);
		if (admin_seal(self.setup.store, &how, err) != 0)
			return -1;
	}
	return setup_given.compact ? admin_compact(self.setup.store, err) : 0;
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
	struct gate_counters gate;

	(void)arg;
	intake_status(self.intake, &intake);
	fold_status(self.fold, &fold);
	desk_status(self.desk, &desk);
	gate_counters(self.gate, &gate);
	report_put(w, text_of(self.setup.node), &intake, &fold, &desk, &gate,
	    setup_given.insecure);
}

/* ---- start and stop ---- */

static int
open_store(struct err *err)
{
	const struct journal_options how = {
		.map_bytes = setup_given.map_bytes,
		.allow_network = setup_given.force_network_fs,
	};
	struct fold_options fold;

	if (instance_make_dir(self.setup.store, err) != 0 ||
	    admin_lock(&self.lock, self.setup.store, err) != 0 ||
	    journal_open(&self.journal, self.setup.store, &how, err) != 0)
		return -1;
	db_clear_stale_readers(journal_db(self.journal));
	fold = setup_fold(&self.setup);
	if (fold_open(&self.fold, self.setup.store, self.journal, &fold, err) !=
	    0)
		return -1;
	/* Batches with numbers that the tables have already would never be
	 * folded. */
	if (fold_position(self.fold) >= journal_next(self.journal))
		return err_set(err,
		    "%s: journal and tables are not of one store: the tables "
		    "are at %llu, the journal ends at %llu",
		    self.setup.store,
		    (unsigned long long)fold_position(self.fold),
		    (unsigned long long)journal_next(self.journal) - 1);
	return reader_open_shared(
	    &self.reader, fold_db(self.fold), self.journal, err);
}

/* Brokers of this host vouch for keys, too: the list is needed without any
 * TCP door. */
static int
open_gate(struct err *err)
{
	const struct opt_list *intake = &setup_given.listen;
	const struct opt_list *desk = &setup_given.reader;
	const struct gate_options how = {
		.server_key = setup_given.server_key,
		.doors = !setup_given.insecure &&
			 (endpoint_any_tcp(intake->at, intake->count) ||
			     endpoint_any_tcp(desk->at, desk->count)),
		.keeps = true,
	};

	return gate_open(&self.gate, &how, err);
}

static struct intake_options
intake_as_given(void)
{
	return (struct intake_options){
		.gate = self.gate,
		.listen = &setup_given.listen,
		.queue_messages = (uint32_t)setup_given.queue,
		.insecure = setup_given.insecure,
		.connects_per_second = (uint32_t)setup_given.connects,
		.journal_bytes = setup_given.journal_bytes,
		.journal_keep_ns = setup_given.journal_keep_ns,
		.sessions_per_hour = setup_given.sessions,
		.key_bytes = setup_given.key_bytes,
		.owns = &setup_given.owns,
		.owed_wait_ns = setup_given.owed_wait_ns,
	};
}

static int
open_doors(struct loop *loop, struct err *err)
{
	const struct room_follower follower = { self.fold, wake_fold,
		position_of_fold };
	const struct desk_source source = { self.reader, settle, put_status,
		NULL };
	const struct intake_options intake = intake_as_given();
	const struct desk_options desk = {
		.gate = self.gate,
		.listen = &setup_given.reader,
		.queue_messages = READER_QUEUE,
		.insecure = setup_given.insecure,
		.connects_per_second = (uint32_t)setup_given.connects,
		.generation = journal_generation(self.journal),
	};

	if (setup_doors(&self.setup, err) != 0)
		return -1;
	if (intake_open(
		&self.intake, loop, self.journal, &intake, &follower, err) != 0)
		return -1;
	return desk_open(&self.desk, &desk, &source, err);
}

static bool
fence(struct fence *fence)
{
	if (is_verb() || setup_given.check_model.count > 0)
		return false;
	setup_fence(fence);
	return true;
}

static int
start(struct loop *loop, struct err *err)
{
	/* Of no store. */
	if (setup_given.check_model.count > 0) {
		if (model_check(&setup_given.check_model, stdout, err) != 0)
			return -1;
		exit(EXIT_SUCCESS);
	}
	if (setup_resolve(&self.setup, err) != 0)
		return -1;
	if (is_verb()) {
		if (run_verbs(err) != 0)
			return -1;
		exit(EXIT_SUCCESS);
	}
	if (open_store(err) != 0 || open_gate(err) != 0 ||
	    open_doors(loop, err) != 0)
		return -1;
	loop_set_wake(loop, on_wake, loop);
	if (fold_start(self.fold, on_fold_failed, loop, err) != 0)
		return -1;
	for (uint32_t i = 0; i < setup_given.listen.count; i++)
		log_info(
		    "listening for batches on %s", setup_given.listen.at[i]);
	for (uint32_t i = 0; i < setup_given.reader.count; i++)
		log_info(
		    "listening for readers on %s", setup_given.reader.at[i]);
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

/* Who was taken off the list is out, whatever else is. */
static int
renew(struct loop *loop, struct err *err)
{
	bool rekeyed = false;

	if (gate_reload(self.gate, &rekeyed, err) != 0)
		return -1;
	if (!rekeyed)
		return 0;
	log_info("another server key: tcp doors are bound anew");
	desk_rekey(self.desk);
	if (intake_rekey(self.intake, err) == 0)
		return 0;
	loop_quit(loop, EXIT_FAILURE);
	return -1;
}

static int
reload(struct loop *loop, struct err *err)
{
	const struct intake_options intake = intake_as_given();
	const struct fold_options fold = setup_retention();

	(void)loop;
	(void)err;
	intake_change(self.intake, &intake);
	fold_change(self.fold, &fold);
	fold_wake(self.fold); /* partitions may have come or gone */
	return 0;
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
	gate_close(&self.gate);
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
		.options = setup_options,
		.check = setup_check,
		.fence = fence,
		.start = start,
		.stop = stop,
		.renew = renew,
		.reload = reload,
		.clear = clear,
	};

	return service_main(&service, argc, argv);
}
