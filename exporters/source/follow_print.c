/*
 * follow_print - print records as they are received, until a signal.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/follow_print.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "exporters/source/follow_position.h"
#include "proto/decode/record_json.h"

enum {
	WAIT_MS = 200,
	SAVE_RECORDS = 10000, /* interval at which the position is saved */
};

struct follower {
	struct source *source;
	struct text partition;
	const char *path; /* position file; NULL: the position is not saved */
	struct follow_position follow_position;
	uint32_t records; /* entries since the position was saved */
};

static volatile sig_atomic_t is_ended;

static void
on_ending(int signo)
{
	(void)signo;
	is_ended = 1;
}

static void
watch_endings(void)
{
	struct sigaction action = { .sa_handler = on_ending };

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/* Flush the output before the position is saved: after a crash a line may
 * repeat, but none is skipped. */
static int
save_position(struct follower *f, struct err *err)
{
	struct follow_position now = { source_generation(f->source),
		source_followed(f->source) };
	bool moved = now.entry != f->follow_position.entry ||
		     now.generation != f->follow_position.generation;

	f->records = 0;
	errno = 0;
	if (fflush(stdout) != 0 || ferror(stdout))
		return err_set(err, "standard output: %s",
		    errno ? strerror(errno) : "a write failed");
	f->follow_position = now;
	return f->path != NULL && moved
		   ? follow_position_write(&now, f->path, err)
		   : 0;
}

/* Print all available records; a signal takes effect at the end of an entry. */
static int
print_available(struct follower *f, struct err *err)
{
	uint64_t before = source_followed(f->source);
	struct record record;
	int rc;

	while ((rc = source_next(f->source, &record, err)) > 0) {
		record_json_line(stdout, f->partition, &record, NULL);
		f->records++;
		if (source_followed(f->source) == before)
			continue;
		before = source_followed(f->source);
		if (is_ended || ferror(stdout))
			return 0;
		if (f->records >= SAVE_RECORDS && save_position(f, err) != 0)
			return -1;
	}
	return rc;
}

/* False: who read the output has gone.  Without records nothing is written that
 * would fail. */
static bool
wait_with_reader(void)
{
	struct pollfd output = { .fd = STDOUT_FILENO, .events = 0 };

	return poll(&output, 1, WAIT_MS) <= 0;
}

int
follow_print(struct source *source, struct text partition,
    const struct wire_query *query, const char *cursor, struct err *err)
{
	struct follower f = { .source = source,
		.partition = partition,
		.path = cursor,
		.follow_position = { .entry = UINT64_MAX } };

	watch_endings();
	if (cursor != NULL &&
	    follow_position_read(&f.follow_position, cursor, err) != 0)
		return -1;
	for (;;) {
		if (follow_position_follow(&f.follow_position, source,
			partition, query, err) != 0 ||
		    print_available(&f, err) != 0 ||
		    save_position(&f, err) != 0)
			return -1;
		if (is_ended || !wait_with_reader())
			return 0;
	}
}
