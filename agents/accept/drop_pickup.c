/*
 * drop_pickup - takes what was left in the drop directory into the spool.
 * SPDX-License-Identifier: MIT
 */
#include "agents/accept/drop_pickup.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "agents/accept/put_check.h"
#include "agents/accept/submitter.h"
#include "agents/submit/drop_dir.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum { FILES_A_ROUND = 64 };

/* When the spool is full, or a file could not be removed. */
#define RETRY_NS (5 * NS_PER_SECOND)
/* Links, pipes and folders come without a notice. */
#define LOOK_NS (60 * NS_PER_SECOND)

struct file {
	char name[DROP_NAME_BYTES];
	bool taken; /* in the spool, on disk */
};

struct pickup {
	struct pickup_options options;
	struct drop *drop;
	struct loop_timer timer;
	struct file file[FILES_A_ROUND];
	uint32_t files;
	bool full, held;
	bool due; /* a round comes by itself, soon */
	struct wire_room room;
	struct stamp *stamp;
};

static void
on_settled(
    const struct gather_ticket *ticket, const struct gather_outcome *outcome)
{
	struct pickup *pickup = ticket->arg;

	pickup->file[ticket->number].taken = outcome->result == GATHER_OK;
	pickup->full |= outcome->result != GATHER_OK;
}

/* Put the content of one file.  False: it is bad. */
static bool
take(void *arg, const char *name, struct text frame)
{
	struct pickup *pickup = arg;
	struct gather *gather = pickup->options.gather;
	struct gather_ticket ticket = {
		.on_settled = on_settled,
		.arg = pickup,
		.number = pickup->files,
	};
	struct file *file = &pickup->file[pickup->files];
	struct wire_header header;
	enum gather_result result;
	struct err err = { "" };
	struct text plain;

	if (pickup->full)
		return true;
	if (put_check(frame, &pickup->room, &header, &plain) != WIRE_OK ||
	    !stamp_put(
		pickup->stamp, drop_owner(pickup->drop), &header, &plain))
		return false;
	if (gather_is_due(gather))
		pickup->options.commit(pickup->options.arg);
	strcpy(file->name, name);
	file->taken = false;
	result = gather_put(gather, &ticket, &header, plain, &err);
	if (result == GATHER_OK)
		pickup->files++;
	pickup->full |= result == GATHER_FULL || result == GATHER_IO;
	return result != GATHER_MALFORMED;
}

/* Remove what is in the spool now.  -1 when that is not on disk. */
static int
remove_taken(struct pickup *pickup, struct err *err)
{
	bool removed = false;

	for (uint32_t i = 0; i < pickup->files; i++) {
		if (!pickup->file[i].taken)
			continue;
		if (drop_remove(pickup->drop, pickup->file[i].name, err) != 0)
			return -1;
		removed = true;
	}
	return removed || pickup->held ? drop_sync(pickup->drop, err) : 0;
}

static void
hold(struct pickup *pickup, bool on)
{
	if (pickup->held == on)
		return;
	pickup->held = on;
	pickup->options.hold(pickup->options.arg, on);
}

void
pickup_round(struct pickup *pickup)
{
	struct loop *loop = pickup->options.loop;
	int64_t now_ns = clock_monotonic_ns();
	struct err err = { "" };
	bool failed;
	int seen;

	pickup->files = 0;
	pickup->full = false;
	seen = drop_scan(pickup->drop, FILES_A_ROUND, take, pickup, &err);
	if (pickup->files > 0)
		pickup->options.commit(pickup->options.arg);
	failed = seen < 0 || remove_taken(pickup, &err) != 0;
	if (failed)
		log_error("%s", err.text);
	/* What could not be removed is there again in the next round, and
	 * counts as taken since its uuids are known. */
	hold(pickup, failed && (pickup->files > 0 || pickup->held));
	if (failed || pickup->full || drop_fd(pickup->drop) < 0)
		loop_set_timer(loop, &pickup->timer, now_ns + RETRY_NS, 0);
	else
		loop_set_timer(loop, &pickup->timer,
		    seen == FILES_A_ROUND ? now_ns : now_ns + LOOK_NS, 0);
	pickup->due = pickup->timer.at_ns < now_ns + LOOK_NS;
}

static void
on_timer(void *arg, struct loop_timer *timer)
{
	(void)timer;
	pickup_round(arg);
}

static void
on_notice(void *arg, int fd, uint32_t events)
{
	struct pickup *pickup = arg;

	(void)fd;
	(void)events;
	drop_drain(pickup->drop);
	/* A round that is due anyway will see it. */
	if (!pickup->due)
		pickup_round(pickup);
}

int
pickup_open(
    struct pickup **made, const struct pickup_options *options, struct err *err)
{
	struct pickup *pickup = calloc(1, sizeof(*pickup));
	int fd;

	if (pickup == NULL)
		abort();
	pickup->options = *options;
	pickup->timer.on_timer = on_timer;
	pickup->timer.arg = pickup;
	if (drop_open(&pickup->drop, options->dir, err) != 0) {
		free(pickup);
		return -1;
	}
	fd = drop_fd(pickup->drop);
	if (fd >= 0 && loop_add_fd(options->loop, fd, EPOLLIN, on_notice,
			   pickup, err) != 0) {
		drop_close(&pickup->drop);
		free(pickup);
		return -1;
	}
	stamp_new(&pickup->stamp);
	*made = pickup;
	return 0;
}

void
pickup_close(struct pickup **gone)
{
	struct pickup *pickup = *gone;

	*gone = NULL;
	if (pickup == NULL)
		return;
	loop_stop_timer(pickup->options.loop, &pickup->timer);
	if (drop_fd(pickup->drop) >= 0)
		loop_remove_fd(pickup->options.loop, drop_fd(pickup->drop));
	drop_close(&pickup->drop);
	wire_room_clear(&pickup->room);
	stamp_free(&pickup->stamp);
	free(pickup);
}
