/*
 * fallback_reader - moves the events of the fallback queue to the spool.
 * SPDX-License-Identifier: MIT
 */
#include "agents/accept/fallback_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "agents/accept/definitions.h"
#include "agents/accept/put_check.h"
#include "agents/accept/submitter.h"
#include "agents/submit/fallback_queue.h"
#include "proto/base/memory.h"
#include "proto/config/instance.h"
#include "proto/os/clock.h"
#include "proto/os/lockfile.h"
#include "proto/os/log.h"

enum { FILES_A_ROUND = 64 };

/* Retry interval when the spool is full, or a file could not be removed. */
#define RETRY_NS (5 * NS_PER_SECOND)
/* The interval of a look at the directory: links, pipes and folders cause no
 * notification. */
#define POLL_NS (60 * NS_PER_SECOND)

struct file {
	char name[FALLBACK_QUEUE_NAME_BYTES];
	bool taken; /* in the spool, on disk */
};

struct fallback_reader {
	struct fallback_reader_options options;
	struct fallback_queue *fallback_queue;
	struct loop_timer timer;
	struct file file[FILES_A_ROUND];
	uint32_t files;
	bool full, held;
	bool due; /* another round is scheduled */
	struct wire_room room;
	struct submitter *submitter;
	struct definitions *definitions;
	struct held_file *held_new, *held_bad; /* directories */
	int64_t logged_ns;
};

static void
on_settled(
    const struct batcher_ticket *ticket, const struct batcher_outcome *outcome)
{
	struct fallback_reader *fallback_reader = ticket->arg;

	fallback_reader->file[ticket->number].taken =
	    outcome->result == BATCHER_OK;
	fallback_reader->full |= outcome->result != BATCHER_OK;
}

/* It goes to bad/, as all that is no put of this version. */
static void
warn_version(
    struct fallback_reader *fallback_reader, const char *name, unsigned version)
{
	if (log_is_due(&fallback_reader->logged_ns))
		log_warn("fallback/new/%s has version %u of the wire protocol, "
			 "this program supports version %d: move it back from "
			 "fallback/bad when both are the same",
		    name, version, WIRE_VERSION);
}

/* Submit the content of one file.  False: it is malformed. */
static bool
take(void *arg, const char *name, struct text frame)
{
	struct fallback_reader *fallback_reader = arg;
	struct batcher *batcher = fallback_reader->options.batcher;
	struct batcher_ticket ticket = {
		.on_settled = on_settled,
		.arg = fallback_reader,
		.number = fallback_reader->files,
		.uid = fallback_queue_owner(fallback_reader->fallback_queue),
	};
	struct file *file = &fallback_reader->file[fallback_reader->files];
	uid_t owner = ticket.uid;
	struct wire_header header;
	enum batcher_result result;
	struct err err = { 0 };
	struct text plain;

	if (fallback_reader->full)
		return true;
	if (wire_version(frame) != WIRE_VERSION)
		warn_version(fallback_reader, name, wire_version(frame));
	if (put_check(frame, &fallback_reader->room, &header, &plain) !=
	    WIRE_OK)
		return false;
	if (put_check_user(owner, &header, plain, &err) != 0 ||
	    definitions_check(fallback_reader->definitions, owner, &header,
		plain, &err) != 0) {
		if (log_is_due(&fallback_reader->logged_ns))
			log_warn("%s: %s", name, err.text);
		return false;
	}
	if (!submitter_put(fallback_reader->submitter, owner, &header, &plain))
		return false;
	if (batcher_is_due(batcher))
		fallback_reader->options.commit(fallback_reader->options.arg);
	strcpy(file->name, name);
	file->taken = false;
	result = batcher_put(batcher, &ticket, &header, plain, &err);
	if (result == BATCHER_OK) {
		definitions_note(
		    fallback_reader->definitions, owner, &header, plain);
		fallback_reader->files++;
	}
	fallback_reader->full |= result == BATCHER_FULL || result == BATCHER_IO;
	return result != BATCHER_MALFORMED && result != BATCHER_REFUSED;
}

/* Remove the files that are in the spool now.  -1: the removals are not on
 * disk. */
static int
remove_taken(struct fallback_reader *fallback_reader, struct err *err)
{
	bool removed = false;

	for (uint32_t i = 0; i < fallback_reader->files; i++) {
		if (!fallback_reader->file[i].taken)
			continue;
		if (fallback_queue_remove(fallback_reader->fallback_queue,
			fallback_reader->file[i].name, err) != 0)
			return -1;
		removed = true;
	}
	return removed || fallback_reader->held
		   ? fallback_queue_sync(fallback_reader->fallback_queue, err)
		   : 0;
}

static void
hold(struct fallback_reader *fallback_reader, bool on)
{
	if (fallback_reader->held == on)
		return;
	fallback_reader->held = on;
	fallback_reader->options.hold(fallback_reader->options.arg, on);
}

void
fallback_reader_round(struct fallback_reader *fallback_reader)
{
	struct loop *loop = fallback_reader->options.loop;
	int64_t now_ns = clock_monotonic_ns();
	struct err err = { 0 };
	bool failed;
	int seen;

	fallback_reader->files = 0;
	fallback_reader->full = false;
	seen = fallback_queue_scan(fallback_reader->fallback_queue,
	    FILES_A_ROUND, take, fallback_reader, &err);
	if (fallback_reader->files > 0)
		fallback_reader->options.commit(fallback_reader->options.arg);
	failed = seen < 0 || remove_taken(fallback_reader, &err) != 0;
	if (failed)
		log_error("%s", err.text);
	/* A file that could not be removed appears again in the next round,
	 * and counts as taken because its uuids are known. */
	hold(fallback_reader,
	    failed && (fallback_reader->files > 0 || fallback_reader->held));
	if (failed || fallback_reader->full ||
	    fallback_queue_fd(fallback_reader->fallback_queue) < 0)
		loop_set_timer(
		    loop, &fallback_reader->timer, now_ns + RETRY_NS, 0);
	else
		loop_set_timer(loop, &fallback_reader->timer,
		    seen == FILES_A_ROUND ? now_ns : now_ns + POLL_NS, 0);
	fallback_reader->due = fallback_reader->timer.at_ns < now_ns + POLL_NS;
}

static void
on_timer(void *arg, struct loop_timer *timer)
{
	(void)timer;
	fallback_reader_round(arg);
}

static void
on_notice(void *arg, int fd, uint32_t events)
{
	struct fallback_reader *fallback_reader = arg;

	(void)fd;
	(void)events;
	fallback_queue_drain(fallback_reader->fallback_queue);
	/* A scheduled round will see it. */
	if (!fallback_reader->due)
		fallback_reader_round(fallback_reader);
}

/* Where they are removed, senders make others, which nobody reads. */
static void
hold_directories(struct fallback_reader *fallback_reader)
{
	const char *dir = fallback_reader->options.dir;
	char path[INSTANCE_PATH_BYTES + 8];

	snprintf(path, sizeof(path), "%s/new", dir);
	fallback_reader->held_new = held_file_add(path, NULL, NULL);
	snprintf(path, sizeof(path), "%s/bad", dir);
	fallback_reader->held_bad = held_file_add(path, NULL, NULL);
}

int
fallback_reader_open(struct fallback_reader **made,
    const struct fallback_reader_options *options, struct err *err)
{
	struct fallback_reader *fallback_reader =
	    memory_zero(1, sizeof(*fallback_reader));
	int fd;

	fallback_reader->options = *options;
	fallback_reader->timer.on_timer = on_timer;
	fallback_reader->timer.arg = fallback_reader;
	if (fallback_queue_open(
		&fallback_reader->fallback_queue, options->dir, err) != 0) {
		free(fallback_reader);
		return -1;
	}
	fd = fallback_queue_fd(fallback_reader->fallback_queue);
	if (fd >= 0 && loop_add_fd(options->loop, fd, EPOLLIN, on_notice,
			   fallback_reader, err) != 0) {
		fallback_queue_close(&fallback_reader->fallback_queue);
		free(fallback_reader);
		return -1;
	}
	hold_directories(fallback_reader);
	submitter_new(&fallback_reader->submitter);
	definitions_new(&fallback_reader->definitions);
	*made = fallback_reader;
	return 0;
}

void
fallback_reader_close(struct fallback_reader **gone)
{
	struct fallback_reader *fallback_reader = *gone;

	*gone = NULL;
	if (fallback_reader == NULL)
		return;
	held_file_drop(&fallback_reader->held_new);
	held_file_drop(&fallback_reader->held_bad);
	loop_stop_timer(fallback_reader->options.loop, &fallback_reader->timer);
	if (fallback_queue_fd(fallback_reader->fallback_queue) >= 0)
		loop_remove_fd(fallback_reader->options.loop,
		    fallback_queue_fd(fallback_reader->fallback_queue));
	fallback_queue_close(&fallback_reader->fallback_queue);
	wire_room_clear(&fallback_reader->room);
	submitter_free(&fallback_reader->submitter);
	definitions_free(&fallback_reader->definitions);
	free(fallback_reader);
}
