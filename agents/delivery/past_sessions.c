/*
 * past_sessions - asks what the store has of the spool's previous sessions.
 * SPDX-License-Identifier: MIT
 */
#include "agents/delivery/past_sessions.h"

#include <inttypes.h>
#include <string.h>

#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/wire/wire.h"

/* The interval of questions, and its minimum when --restore-wait is short. */
#define ASK_NS  (600 * NS_PER_SECOND)
#define SOON_NS (1 * NS_PER_SECOND)
/* The time after which a question counts as lost. */
#define RETRY_NS (10 * NS_PER_SECOND)

static bool
is_of(const struct past_sessions_ask *ask, const struct spool_past_session *e)
{
	return session_equal(&ask->session, &e->session) &&
	       strcmp(ask->partition, e->partition) == 0;
}

/* The questions follow the spool's list, which grows at its end and loses
 * entries. */
static void
follow_list(struct past_sessions *f)
{
	struct spool *spool = f->options.spool;
	uint32_t count = spool_past_sessions(spool);
	struct past_sessions_ask *ask;

	for (uint32_t i = 0; i < count; i++) {
		const struct spool_past_session *e =
		    spool_past_session(spool, i);

		while (i < f->asks && !is_of(&f->ask[i], e)) {
			f->asks--;
			memmove(&f->ask[i], &f->ask[i + 1],
			    (f->asks - i) * sizeof(f->ask[0]));
		}
		if (i < f->asks)
			continue;
		ask = &f->ask[f->asks++];
		*ask = (struct past_sessions_ask){ .session = e->session };
		memcpy(ask->partition, e->partition, sizeof(ask->partition));
	}
	f->asks = count;
}

static bool
ask(struct past_sessions *f, struct past_sessions_ask *ask,
    const struct spool_past_session *e, int64_t wall_ns)
{
	unsigned char frame[WIRE_FIXED_BYTES + WIRE_HEADER_BYTES_MAX];
	struct wire_header hello = { .type = WIRE_HELLO,
		.partition = text_of(e->partition),
		.node = f->options.node,
		.session = e->session,
		.seq = e->known + 1,
		.start_count = spool_start_count(f->options.spool) };
	struct text whole = { (const char *)frame, 0 };

	if (wall_ns <= f->stamp_ns)
		wall_ns = f->stamp_ns + 1;
	hello.sent_ns = ask->stamp_ns = f->stamp_ns = wall_ns;
	whole.bytes = (uint32_t)wire_frame(
	    frame, sizeof(frame), &hello, (struct text){ NULL, 0 });
	return whole.bytes > 0 && f->options.send(f->options.arg, whole);
}

void
past_sessions_push(struct past_sessions *f, int64_t now_ns, int64_t wall_ns)
{
	follow_list(f);
	for (uint32_t i = 0; i < f->asks; i++) {
		const struct spool_past_session *e =
		    spool_past_session(f->options.spool, i);

		if (now_ns < f->ask[i].at_ns)
			continue;
		f->ask[i].at_ns = now_ns + RETRY_NS;
		if (!ask(f, &f->ask[i], e, wall_ns))
			f->ask[i].at_ns = now_ns + SOON_NS;
	}
}

int64_t
past_sessions_deadline_ns(const struct past_sessions *f)
{
	int64_t at_ns = 0;

	for (uint32_t i = 0; i < f->asks; i++)
		if (at_ns == 0 || f->ask[i].at_ns < at_ns)
			at_ns = f->ask[i].at_ns > 0 ? f->ask[i].at_ns : 1;
	return at_ns;
}

static void
save(struct past_sessions *f)
{
	struct err err = { 0 };

	if (spool_past_sessions_save(f->options.spool, &err) != 0)
		log_warn("%s", err.text);
}

/* Every known batch of it is stored or reported as a gap. */
static void
settle(struct past_sessions *f, struct spool_past_session *e, uint64_t has)
{
	e->known = has;
	e->since_ns = 0;
	e->forget = has == 0;
	save(f);
}

/* No other sender has delivered the batches: record a gap.  Write the gap
 * before the note that it is reported: after a crash between the two it is
 * reported twice, which is better than never. */
static void
report_missing(
    struct past_sessions *f, struct spool_past_session *e, uint64_t has)
{
	uint64_t count = e->known - has;
	struct err err = { 0 };

	f->options.commit(f->options.arg);
	if (spool_report_gap(f->options.spool, text_of(e->partition), count,
		WIRE_GAP_RESTORED, &err) != 0) {
		log_warn("%s", err.text);
		return;
	}
	log_warn("%" PRIu64 " batches of a previous session are missing on the "
		 "aggregator; recorded as a gap",
	    count);
	f->reported += count;
	settle(f, e, has);
}

/* The store has the session up to `has`. */
static void
judge(struct past_sessions *f, struct spool_past_session *e, uint64_t has,
    int64_t wall_ns)
{
	if (has >= e->known) {
		if (has > e->known || e->since_ns != 0 || has == 0)
			settle(f, e, has);
	} else if (e->since_ns == 0 || wall_ns < e->since_ns) {
		e->since_ns = wall_ns;
		save(f);
	} else if (wall_ns - e->since_ns >= f->options.wait_ns) {
		report_missing(f, e, has);
	}
}

/* The store knows which batches it is missing and will report them.  It may be
 * lost before it does: decide later. */
static void
wait_for_missing(struct past_sessions *f, struct spool_past_session *e)
{
	if (e->since_ns == 0)
		return;
	e->since_ns = 0;
	save(f);
}

static int64_t
pause_ns(const struct past_sessions *f)
{
	int64_t pause =
	    f->options.wait_ns < ASK_NS ? f->options.wait_ns : ASK_NS;

	return pause > SOON_NS ? pause : SOON_NS;
}

bool
past_sessions_receive(
    struct past_sessions *f, struct text frame, int64_t now_ns, int64_t wall_ns)
{
	struct wire_header h;
	struct text body;

	if (f->asks == 0 || wire_open(frame, &h, &body) != WIRE_OK)
		return false;
	follow_list(f);
	for (uint32_t i = 0; i < f->asks; i++) {
		struct spool_past_session *e =
		    spool_past_session(f->options.spool, i);
		struct past_sessions_ask *a = &f->ask[i];

		if (!session_equal(&h.session, &e->session) ||
		    !text_equal(h.partition, text_of(e->partition)) ||
		    a->stamp_ns == 0 || h.sent_ns != a->stamp_ns)
			continue;
		/* If a newer start of the session exists, "superseded" gives
		 * the position as well. */
		if (h.expect == 0 || (h.type != WIRE_WELCOME &&
					 (h.type != WIRE_NACK ||
					     h.reason != WIRE_NACK_SUPERSEDED)))
			return true; /* ask again later */
		a->stamp_ns = 0;
		a->at_ns = now_ns + pause_ns(f);
		if (h.expect <= e->known && h.last_seq >= e->known) {
			a->missing_by = h.generation;
			wait_for_missing(f, e);
		} else if (a->missing_by != 0 &&
			   a->missing_by == h.generation &&
			   h.type == WIRE_WELCOME) {
			settle(f, e, h.expect - 1); /* delivered or reported */
		} else {
			judge(f, e, h.expect - 1, wall_ns);
		}
		return true;
	}
	return false;
}
