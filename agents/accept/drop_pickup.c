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
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"

enum { FILES_A_ROUND = 64 };

/* When the spool is full, or a file could not be removed. */
#define RETRY_NS (5 * NS_PER_SECOND)
/* Links, pipes and folders come without a notice. */
#define LOOK_NS (60 * NS_PER_SECOND)

struct file {
	char name[DROP_DIR_NAME_BYTES];
	bool taken; /* in the spool, on disk */
};

struct drop_pickup {
	struct drop_pickup_options options;
	struct drop_dir *drop_dir;
	struct loop_timer timer;
	struct file file[FILES_A_ROUND];
	uint32_t files;
	bool full, held;
	bool due; /* a round comes by itself, soon */
	struct wire_room room;
	struct submitter *submitter;
};

static void
on_settled(
    const struct batcher_ticket *ticket, const struct batcher_outcome *outcome)
{
	struct drop_pickup *drop_pickup = ticket->arg;

	drop_pickup->file[ticket->number].taken = outcome->result == BATCHER_OK;
	drop_pickup->full |= outcome->result != BATCHER_OK;
}

/* Put the content of one file.  False: it is bad. */
static bool
take(void *arg, const char *name, struct text frame)
{
	struct drop_pickup *drop_pickup = arg;
	struct batcher *batcher = drop_pickup->options.batcher;
	struct batcher_ticket ticket = {
		.on_settled = on_settled,
		.arg = drop_pickup,
		.number = drop_pickup->files,
	};
	struct file *file = &drop_pickup->file[drop_pickup->files];
	struct wire_header header;
	enum batcher_result result;
	struct err err = { "" };
	struct text plain;

	if (drop_pickup->full)
		return true;
	if (put_check(frame, &drop_pickup->room, &header, &plain) != WIRE_OK ||
	    !submitter_put(drop_pickup->submitter,
		drop_dir_owner(drop_pickup->drop_dir), &header, &plain))
		return false;
	if (batcher_is_due(batcher))
		drop_pickup->options.commit(drop_pickup->options.arg);
	strcpy(file->name, name);
	file->taken = false;
	result = batcher_put(batcher, &ticket, &header, plain, &err);
	if (result == BATCHER_OK)
		drop_pickup->files++;
	drop_pickup->full |= result == BATCHER_FULL || result == BATCHER_IO;
	return result != BATCHER_MALFORMED;
}

/* Remove what is in the spool now.  -1 when that is not on disk. */
static int
remove_taken(struct drop_pickup *drop_pickup, struct err *err)
{
	bool removed = false;

	for (uint32_t i = 0; i < drop_pickup->files; i++) {
		if (!drop_pickup->file[i].taken)
			continue;
		if (drop_dir_remove(drop_pickup->drop_dir,
			drop_pickup->file[i].name, err) != 0)
			return -1;
		removed = true;
	}
	return removed || drop_pickup->held
		   ? drop_dir_sync(drop_pickup->drop_dir, err)
		   : 0;
}

static void
hold(struct drop_pickup *drop_pickup, bool on)
{
	if (drop_pickup->held == on)
		return;
	drop_pickup->held = on;
	drop_pickup->options.hold(drop_pickup->options.arg, on);
}

void
drop_pickup_round(struct drop_pickup *drop_pickup)
{
	struct loop *loop = drop_pickup->options.loop;
	int64_t now_ns = clock_monotonic_ns();
	struct err err = { "" };
	bool failed;
	int seen;

	drop_pickup->files = 0;
	drop_pickup->full = false;
	seen = drop_dir_scan(
	    drop_pickup->drop_dir, FILES_A_ROUND, take, drop_pickup, &err);
	if (drop_pickup->files > 0)
		drop_pickup->options.commit(drop_pickup->options.arg);
	failed = seen < 0 || remove_taken(drop_pickup, &err) != 0;
	if (failed)
		log_error("%s", err.text);
	/* What could not be removed is there again in the next round, and
	 * counts as taken since its uuids are known. */
	hold(drop_pickup,
	    failed && (drop_pickup->files > 0 || drop_pickup->held));
	if (failed || drop_pickup->full ||
	    drop_dir_fd(drop_pickup->drop_dir) < 0)
		loop_set_timer(loop, &drop_pickup->timer, now_ns + RETRY_NS, 0);
	else
		loop_set_timer(loop, &drop_pickup->timer,
		    seen == FILES_A_ROUND ? now_ns : now_ns + LOOK_NS, 0);
	drop_pickup->due = drop_pickup->timer.at_ns < now_ns + LOOK_NS;
}

static void
on_timer(void *arg, struct loop_timer *timer)
{
	(void)timer;
	drop_pickup_round(arg);
}

static void
on_notice(void *arg, int fd, uint32_t events)
{
	struct drop_pickup *drop_pickup = arg;

	(void)fd;
	(void)events;
	drop_dir_drain(drop_pickup->drop_dir);
	/* A round that is due anyway will see it. */
	if (!drop_pickup->due)
		drop_pickup_round(drop_pickup);
}

int
drop_pickup_open(struct drop_pickup **made,
    const struct drop_pickup_options *options, struct err *err)
{
	struct drop_pickup *drop_pickup = memory_zero(1, sizeof(*drop_pickup));
	int fd;

	drop_pickup->options = *options;
	drop_pickup->timer.on_timer = on_timer;
	drop_pickup->timer.arg = drop_pickup;
	if (drop_dir_open(&drop_pickup->drop_dir, options->dir, err) != 0) {
		free(drop_pickup);
		return -1;
	}
	fd = drop_dir_fd(drop_pickup->drop_dir);
	if (fd >= 0 && loop_add_fd(options->loop, fd, EPOLLIN, on_notice,
			   drop_pickup, err) != 0) {
		drop_dir_close(&drop_pickup->drop_dir);
		free(drop_pickup);
		return -1;
	}
	submitter_new(&drop_pickup->submitter);
	*made = drop_pickup;
	return 0;
}

void
drop_pickup_close(struct drop_pickup **gone)
{
	struct drop_pickup *drop_pickup = *gone;

	*gone = NULL;
	if (drop_pickup == NULL)
		return;
	loop_stop_timer(drop_pickup->options.loop, &drop_pickup->timer);
	if (drop_dir_fd(drop_pickup->drop_dir) >= 0)
		loop_remove_fd(drop_pickup->options.loop,
		    drop_dir_fd(drop_pickup->drop_dir));
	drop_dir_close(&drop_pickup->drop_dir);
	wire_room_clear(&drop_pickup->room);
	submitter_free(&drop_pickup->submitter);
	free(drop_pickup);
}
