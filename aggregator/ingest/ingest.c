/*
 * ingest - the door where batches come in.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/ingest/ingest.h"

#include <stdlib.h>

#include "aggregator/ingest/authorize.h"
#include "aggregator/ingest/board.h"
#include "aggregator/ingest/outbox.h"
#include "aggregator/ingest/restore_gaps.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum {
	GROUP_BYTES = 4 << 20,
	TICKS_BETWEEN_READER_CHECKS = 5,
	TICKS_BETWEEN_LOOKS = 10, /* at what is owed */
	PURGE_AT_ONCE = 256,
};
#define GROUP_NS (20 * NS_PER_SECOND / 1000)
#define TICK_NS  NS_PER_SECOND

struct intake {
	struct loop *loop;
	struct port *port;
	struct journal *journal;
	struct keep *keep;
	struct intake_options options;
	struct room room;
	struct admit admit;
	struct owed owed;
	struct message message;
	struct outbox outbox;

	/* The group under way. */
	bool open;
	uint32_t messages;
	uint64_t bytes;
	int64_t since_ns;
	enum keep_room given; /* what there was when it began */

	bool broken, stopped;
	uint32_t ticks;
	struct loop_timer tick;
	struct intake_board board;
};

/* ---- a group ---- */

static void
publish(struct intake *intake)
{
	intake->board.now.owed = intake->owed.batches;
	intake->board.now.answers_late = intake->outbox.delayed;
	intake->board.now.answers_dropped = intake->outbox.dropped;
	intake->board.now.keys_limited = intake->admit.limited;
	intake_board_put(
	    &intake->board, intake->keep, &intake->room, intake->port);
}

/* Nothing more can be promised: the state on disk is good, a new start finds
 * it. */
static void
broken(struct intake *intake, const struct err *err)
{
	log_error("journal is broken, ending: %s", err->text);
	intake->broken = true;
	loop_quit(intake->loop, EXIT_FAILURE);
}

static bool
group_begin(struct intake *intake, int64_t now_ns)
{
	struct err err = { "" };

	if (intake->broken)
		return false;
	if (journal_begin(intake->journal, &err) != 0) {
		broken(intake, &err);
		return false;
	}
	intake->open = true;
	intake->messages = 0;
	intake->bytes = 0;
	intake->since_ns = now_ns;
	return true;
}

static void
group_failed(struct intake *intake, enum db_result result, struct err *err)
{
	struct answers *answers = &intake->outbox.answers;

	keep_failed(intake->keep);
	if (result == DB_BROKEN) {
		/* Not one answer: what became of the group is not known. */
		answers_clear(answers);
		broken(intake, err);
		return;
	}
	room_is_full(&intake->room, clock_monotonic_ns(), err);
	for (uint32_t i = 0; i < answers->count; i++)
		keep_take_back(intake->keep, &answers->at[i].header);
}

static void
group_commit(struct intake *intake)
{
	struct err err = { "" };
	bool kept = keep_is_dirty(intake->keep);
	int64_t start_ns;
	enum db_result result;
	uint32_t gone = 0;

	if (!intake->open)
		return;
	intake->open = false;
	if (kept)
		gone = room_purge(&intake->room, intake->messages + 16);
	start_ns = clock_monotonic_ns();
	result = journal_commit(intake->journal, &err);
	if (result != DB_OK) {
		group_failed(intake, result, &err);
	} else {
		keep_committed(intake->keep);
		intake->room.purged += gone;
	}
	if (result == DB_OK && kept) {
		room_is_there(&intake->room);
		intake->board.now.commits++;
		intake->board.now.commit_ns =
		    (uint64_t)(clock_monotonic_ns() - start_ns);
		intake->room.follower.wake(intake->room.follower.arg);
	}
	/* Who acts upon an answer must find the status that goes with it. */
	publish(intake);
	outbox_send(&intake->outbox, intake->port);
}

static bool
answer_message(struct intake *intake, int64_t received_ns, int64_t now_ns,
    struct wire_header *answer)
{
	struct message *message = &intake->message;
	bool answered;

	answer->generation = journal_generation(intake->journal);
	answer->received_ns = received_ns;
	if (!admit_judge(&intake->admit, message, now_ns, answer, &answered))
		return answered;
	answered = keep_take(
	    intake->keep, message->frame, received_ns, intake->given, answer);
	admit_note(&intake->admit, message, now_ns, answer);
	return answered;
}

static void
take(struct intake *intake, int64_t now_ns)
{
	/* Before anything else: what comes between is no way of the message,
	 * and would be taken for one (a clock probe). */
	int64_t received_ns = clock_wall_ns();
	struct wire_header answer = { .type = WIRE_NACK };

	if (!intake->open) {
		intake->given = room_look(&intake->room, now_ns);
		if (!group_begin(intake, now_ns))
			return;
	}
	intake->messages++;
	intake->bytes += intake->message.frame.bytes;
	if (answer_message(intake, received_ns, now_ns, &answer))
		answers_add(
		    &intake->outbox.answers, &intake->message.route, &answer);
}

static bool
group_is_big(const struct intake *intake, int64_t now_ns)
{
	return intake->open && (intake->bytes >= GROUP_BYTES ||
				   intake->messages >= OUTBOX_GROUP ||
				   now_ns - intake->since_ns >= GROUP_NS);
}

static void
on_port(void *arg, struct port *port)
{
	struct intake *intake = arg;
	int64_t now_ns = clock_monotonic_ns();

	while (!intake->broken && !intake->stopped &&
	       !group_is_big(intake, now_ns) &&
	       port_recv(port, &intake->message) == PORT_DONE) {
		take(intake, now_ns);
		now_ns = clock_monotonic_ns();
	}
	message_clear(&intake->message);
}

static void
on_idle(void *arg)
{
	group_commit(arg);
}

/* ---- timers ---- */

/* Timers run between a group's messages and its commit, and what waits may
 * hold answers of that group: they must not leave before it. */
static void
on_late(void *arg, struct loop_timer *timer)
{
	struct intake *intake = arg;

	(void)timer;
	if (intake->open)
		group_commit(intake);
	else
		outbox_send(&intake->outbox, intake->port);
}

static void
purge(struct intake *intake)
{
	struct err err = { "" };

	if (room_purge_alone(&intake->room, PURGE_AT_ONCE, &err) == DB_BROKEN)
		broken(intake, &err);
}

/* Until a move brings some, or a restart, nothing is owed but what was looked
 * at; and what senders bring meanwhile is not counted at once. */
static void
tell_owed(struct intake *intake)
{
	struct owed *owed = &intake->owed;
	int64_t wall_ns = clock_wall_ns();
	uint64_t before;

	if (intake->ticks % TICKS_BETWEEN_LOOKS == 0)
		owed_look(owed);
	if (!owed_is_due(owed, wall_ns) ||
	    room_look(&intake->room, clock_monotonic_ns()) != KEEP_ROOM ||
	    !group_begin(intake, clock_monotonic_ns()))
		return;
	owed_look(owed);
	before = owed->batches;
	owed_tell(owed, intake->keep, wall_ns);
	group_commit(intake);
	intake->board.now.owed_told += owed_told(owed, before);
}

static void
on_tick(void *arg, struct loop_timer *timer)
{
	struct intake *intake = arg;

	(void)timer;
	group_commit(intake);
	if (intake->stopped || intake->broken)
		return;
	if (++intake->ticks % TICKS_BETWEEN_READER_CHECKS == 0)
		db_clear_stale_readers(journal_db(intake->journal));
	purge(intake);
	tell_owed(intake);
	room_look(&intake->room, clock_monotonic_ns());
	publish(intake);
}

/* ---- life ---- */

static int
open_door(struct intake *intake, struct err *err)
{
	const struct opt_list *listen = intake->options.listen;
	const struct port_options how = {
		.kind = PORT_DOOR,
		.queue_messages = intake->options.queue_messages,
		.frame_bytes_max = WIRE_FRAME_BYTES_MAX,
		.insecure = intake->options.insecure,
		.connects_per_second = intake->options.connects_per_second,
		.server_secret = gate_secret(intake->options.gate),
	};

	if (port_open(&intake->port, &how, err) != 0)
		return -1;
	for (uint32_t i = 0; i < listen->count; i++)
		if (port_bind(intake->port, listen->at[i], err) != 0)
			return -1;
	return loop_add_port(intake->loop, intake->port, on_port, intake, err);
}

int
intake_open(struct intake **intake, struct loop *loop, struct journal *journal,
    const struct intake_options *options, const struct room_follower *follower,
    struct err *err)
{
	struct intake *made = calloc(1, sizeof(*made));

	if (made == NULL)
		abort();
	made->loop = loop;
	made->journal = journal;
	made->options = *options;
	admit_init(&made->admit, options->gate, options->key_bytes);
	made->room = (struct room){
		.journal = journal,
		.follower = *follower,
		.journal_bytes = options->journal_bytes,
		.keep_ns = options->journal_keep_ns,
	};
	made->owed = (struct owed){ .journal = journal,
		.wait_ns = options->owed_wait_ns };
	owed_look(&made->owed);
	intake_board_init(&made->board);
	message_init(&made->message);
	outbox_init(&made->outbox, loop, on_late, made);
	made->keep = keep_new(journal, options->sessions_per_hour);
	keep_owns(made->keep, options->owns);
	if (open_door(made, err) != 0) {
		intake_close(&made);
		return -1;
	}
	made->tick = (struct loop_timer){ .on_timer = on_tick, .arg = made };
	loop_set_timer(
	    loop, &made->tick, clock_monotonic_ns() + TICK_NS, TICK_NS);
	loop_set_idle(loop, on_idle, made);
	room_look(&made->room, clock_monotonic_ns());
	publish(made);
	*intake = made;
	return 0;
}

int
intake_rekey(struct intake *intake, struct err *err)
{
	return port_rekey(intake->port, gate_secret(intake->options.gate), err);
}

void
intake_change(struct intake *intake, const struct intake_options *options)
{
	intake->room.journal_bytes = options->journal_bytes;
	intake->room.keep_ns = options->journal_keep_ns;
	keep_change(intake->keep, options->sessions_per_hour);
	meter_change(intake->admit.meter, options->key_bytes);
	intake->owed.wait_ns = options->owed_wait_ns;
}

void
intake_stop(struct intake *intake)
{
	if (intake->stopped)
		return;
	group_commit(intake);
	intake->stopped = true;
	loop_stop_timer(intake->loop, &intake->tick);
	outbox_stop(&intake->outbox);
	loop_remove_port(intake->loop, intake->port);
}

void
intake_close(struct intake **intake)
{
	struct intake *old = *intake;

	if (old == NULL)
		return;
	/* After a crash of the loop: nothing of the open group was promised. */
	if (old->open)
		journal_abort(old->journal);
	if (old->port != NULL && !old->stopped)
		loop_remove_port(old->loop, old->port);
	if (old->tick.on_timer != NULL && !old->stopped) {
		loop_stop_timer(old->loop, &old->tick);
		outbox_stop(&old->outbox);
	}
	loop_set_idle(old->loop, NULL, NULL);
	message_clear(&old->message);
	port_close(&old->port);
	keep_free(&old->keep);
	admit_clear(&old->admit);
	intake_board_clear(&old->board);
	free(old);
	*intake = NULL;
}

void
intake_status(struct intake *intake, struct intake_status *status)
{
	intake_board_get(&intake->board, status);
}
