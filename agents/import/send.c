/*
 * import_send - sends rows to the aggregator.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/send.h"

#include <inttypes.h>
#include <stdio.h>

#include "agents/delivery/direct_uplink.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/os/progress.h"

enum {
	BAD_LINES_SHOWN = 50,
	ROWS_A_ROUND = 4096, /* before it checks the connection, and signals */
};

struct sending {
	const struct import_options *options;
	const struct import_source *source;
	struct import_batches *batches;
	struct import_row row;
	struct direct_uplink direct_uplink;
	uint32_t streams;       /* streams that the sender knows */
	bool end;               /* of the file */
	bool again;             /* read the file once more */
	uint64_t bad, reported; /* bad lines */
	int64_t began_ns;
};

/* ---- reading ---- */

/* The position of the last line. */
static const char *
get_file(const struct import_source *source)
{
	return source->file != NULL ? source->file(source->arg) : source->name;
}

static void
complain(struct sending *s, const char *what)
{
	s->bad++;
	if (s->bad <= s->reported || s->bad > BAD_LINES_SHOWN)
		return;
	s->reported = s->bad;
	if (s->options->progress)
		progress_clear();
	fprintf(stderr, "%s:%" PRIu64 ": %s\n", get_file(s->source),
	    s->source->line(s->source->arg), what);
	if (s->bad == BAD_LINES_SHOWN)
		fprintf(stderr, "%s: further bad lines are only counted\n",
		    s->source->name);
}

static bool
is_hungry(const struct sending *s)
{
	return !s->end && s->direct_uplink.status == 0 &&
	       !import_batches_is_full(s->batches);
}

/* Read until there is enough to send, or for one round: a file that is already
 * stored never has anything to send. */
static void
feed(struct sending *s)
{
	const struct import_source *source = s->source;

	if (is_hungry(s))
		s->direct_uplink.progress_ns = clock_monotonic_ns();
	for (int i = 0; i < ROWS_A_ROUND && is_hungry(s); i++) {
		uint64_t from = source->offset(source->arg);
		struct err err;

		err_clear(&err);
		switch (source->next(source->arg, &s->row, &err)) {
		case IMPORT_LINE:
			if (import_batches_add(s->batches, &s->row,
				source->offset(source->arg) - from, &err) != 0)
				complain(s, err.text);
			break;
		case IMPORT_TOO_LONG: complain(s, err.text); break;
		case IMPORT_END:
			s->end = true;
			import_batches_end(s->batches);
			break;
		case IMPORT_FAILED:
			*s->direct_uplink.err = err;
			direct_uplink_fail(&s->direct_uplink);
			break;
		}
	}
}

int
import_check(const struct import_source *source, struct err *err)
{
	struct import_row row = { .aside = false };
	enum import_next next;

	do
		next = source->next(source->arg, &row, err);
	while (next == IMPORT_LINE);
	import_row_clear(&row);
	if (next == IMPORT_TOO_LONG)
		err_prefix(err, "%s:%" PRIu64, get_file(source),
		    source->line(source->arg));
	source->rewind(source->arg);
	return next == IMPORT_END ? 0 : -1;
}

/* ---- callbacks of the sender ---- */

static uint64_t
first_of(void *arg, uint32_t stream)
{
	const struct sending *s = arg;

	return import_batches_first(s->batches, stream);
}

static int
read_batch(void *arg, uint32_t stream, uint64_t seq, struct sender_batch *batch)
{
	struct sending *s = arg;

	return s->again ? 0
			: import_batches_read(s->batches, stream, seq, batch);
}

/* What the aggregator has under the session of these rows is not theirs:
 * another key, node or version began it; or (`gone`) it was dropped. */
static void
use_another_session(struct sending *s, uint32_t stream, bool gone)
{
	char partition[300];

	text_quote(partition, sizeof(partition),
	    import_batches_partition(s->batches, stream));
	s->again = import_batches_rename(s->batches, stream, gone);
	if (s->options->progress)
		progress_clear();
	if (s->again && gone)
		return;
	if (s->again) {
		log_warn("%s: another key, node or version has imported into "
			 "%s under the session of these rows; sending them "
			 "under another one (rows that are there stay once)",
		    s->source->name, partition);
		return;
	}
	err_set(s->direct_uplink.err,
	    "%s: another key, node or version has imported into %s under the "
	    "session of these rows: they are not stored by this import; "
	    "compare what the partition has, and see partition drop",
	    s->source->name, partition);
	direct_uplink_fail(&s->direct_uplink);
}

/* Does the aggregator have something else than what was packed? */
static bool
is_other(struct sending *s)
{
	uint32_t stream;

	if (!import_batches_is_other(s->batches, &stream))
		return false;
	use_another_session(s, stream, false);
	return true;
}

static void
act(void *arg, const struct sender_step *step)
{
	struct sending *s = arg;

	switch (step->action) {
	case SENDER_SEND:
		import_batches_sent(s->batches, step->stream, step->seq);
		break;
	case SENDER_ACKED:
		if (step->is_claim)
			import_batches_claimed(
			    s->batches, step->stream, step->seq, step->chain);
		if (!is_other(s))
			import_batches_acked(
			    s->batches, step->stream, step->seq);
		direct_uplink_progressed(&s->direct_uplink);
		break;
	case SENDER_REFUSED:
		direct_uplink_fail_refused(&s->direct_uplink,
		    import_batches_partition(s->batches, step->stream),
		    step->reason);
		break;
	/* The store was restored from a backup: read everything again from the
	 * first line; batches that it still has are only packed. */
	case SENDER_REWIND:
		import_batches_rewind(s->batches);
		s->again = true;
		break;
	case SENDER_DIVERGED:
		use_another_session(s, step->stream, step->is_dropped);
		break;
	default: break;
	}
}

/* ---- the loop ---- */

static void
read_again(struct sending *s)
{
	s->again = false;
	s->end = false;
	s->bad = 0;
	while (s->streams > 0) /* all send a hello */
		sender_close(s->direct_uplink.sender, --s->streams);
	s->source->rewind(s->source->arg);
}

static void
pump(void *arg)
{
	struct sending *s = arg;
	struct direct_uplink *d = &s->direct_uplink;
	int64_t now_ns = clock_monotonic_ns();

	if (s->again)
		read_again(s);
	feed(s);
	is_other(s);
	for (; s->streams < import_batches_streams(s->batches); s->streams++)
		sender_open(d->sender, s->streams,
		    import_batches_partition(s->batches, s->streams),
		    import_batches_session(s->batches, s->streams), 0, now_ns);
	direct_uplink_push(d);
	if (s->end && !s->again && sender_in_flight(d->sender) == 0)
		loop_quit(d->loop, 0);
	else
		direct_uplink_pump_at(d, s->again || is_hungry(s) ? now_ns : 0);
}

static void
show(void *arg, int64_t now_ns)
{
	const struct sending *s = arg;
	const struct import_batches_counters *c =
	    import_batches_counters(s->batches);
	struct progress progress = { .total = s->source->bytes,
		.done = c->bytes_acked,
		.rows = c->events_acked,
		.began_ns = s->began_ns,
		.now_ns = now_ns };

	progress_show(s->source->name, &progress);
}

int
import_send(const struct import_source *source,
    const struct import_options *options, struct uplink_loop *uplink,
    struct import_result *result, struct err *err)
{
	struct sending s = { .options = options, .source = source };
	const struct sender_owner owner = { &s, first_of, read_batch, NULL,
		NULL };
	const struct direct_uplink_options deliver = {
		.sender = { .node = options->node,
		    .derived = true,
		    .batch_flags =
			(uint16_t)((options->once ? WIRE_FLAG_ONCE : 0) |
				   (options->is_made_up
					   ? 0
					   : WIRE_FLAG_IMPORTED)) },
		.timeout_ns = options->timeout_ns,
		.progress = options->progress,
		.advice = "run the same import again to resume",
		.arg = &s,
		.pump = pump,
		.act = act,
		.poll = options->progress ? show : NULL,
	};
	int rc;

	s.batches = import_batches_new(
	    source->kind, options->partition, source->digest, options->once);
	s.began_ns = clock_monotonic_ns();
	rc = direct_uplink_start(
	    &s.direct_uplink, &deliver, &owner, uplink, err);
	if (rc == 0) {
		rc = loop_run(uplink->loop);
		if (s.direct_uplink.status != 0)
			rc = -1;
		else if (rc != 0)
			rc = err_set_code(err, ERR_INTERRUPTED,
			    "%s: interrupted; run the same import again to "
			    "resume",
			    source->name);
	}
	direct_uplink_stop(&s.direct_uplink);
	if (options->progress)
		progress_clear();
	result->events += import_batches_counters(s.batches)->events;
	result->already += import_batches_counters(s.batches)->already;
	result->bad += s.bad;
	import_row_clear(&s.row);
	import_batches_free(&s.batches);
	return rc;
}
