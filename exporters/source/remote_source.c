/*
 * remote_source - asks a process for a page and waits for it.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/remote_source.h"

#include <poll.h>
#include <string.h>

#include "proto/auth/client_key.h"
#include "proto/os/clock.h"

enum {
	QUESTION_BYTES = 4096, /* header and query are far below */
	QUEUE_MESSAGES = 4,
	AGAIN_MS = 1000,  /* without an answer: ask again */
	NAP_FIRST_MS = 1, /* no connection yet: a moment, then longer ... */
	NAP_MS = 50,
};

int
asker_open(struct asker *asker, const char *endpoint, int64_t silence_ns,
    struct err *err)
{
	struct port_options options = {
		.kind = PORT_LINE,
		.queue_messages = QUEUE_MESSAGES,
		.frame_bytes_max = WIRE_FRAME_BYTES_MAX,
	};

	memset(asker, 0, sizeof(*asker));
	asker->silence_ns = silence_ns;
	message_init(&asker->messages[0]);
	message_init(&asker->messages[1]);
	if (pass_show(&options, endpoint, "reader", err) != 0 ||
	    port_open(&asker->port, &options, err) != 0)
		return -1;
	if (port_connect(asker->port, endpoint, err) == 0)
		return 0;
	port_close(&asker->port);
	return -1;
}

void
asker_close(struct asker *asker)
{
	message_clear(&asker->messages[0]);
	message_clear(&asker->messages[1]);
	port_close(&asker->port);
}

/* Is there no use in waiting?  Then `err` says why. */
static bool
is_refused(struct asker *asker, struct err *err)
{
	if (!port_watch(asker->port))
		return false;
	switch (port_trouble(asker->port, err)) {
	case PORT_FINE: return false;
	case PORT_TRY_NEXT: return port_reconnect(asker->port, err) != 0;
	default: return true;
	}
}

/* Sleep until the port has something, or `until_ns`; -1: it never will. */
static int
wait_for(struct asker *asker, int64_t until_ns, struct err *err)
{
	while (!port_is_ready(asker->port)) {
		int64_t left_ns = until_ns - clock_monotonic_ns();
		struct pollfd fds[] = {
			{ .fd = port_fd(asker->port), .events = POLLIN },
			{ .fd = port_watch_fd(asker->port), .events = POLLIN },
		};

		if (is_refused(asker, err))
			return -1;
		if (left_ns <= 0)
			return 0;
		poll(fds, 2, (int)(left_ns / 1000000) + 1);
	}
	return 0;
}

static const char *
explain(enum wire_reason reason)
{
	switch (reason) {
	case WIRE_NACK_UNSUPPORTED:
		return ": it is of a version that does not know this question";
	case WIRE_NACK_FORBIDDEN:
		return ": the key may not read this partition (poolscope keys "
		       "list, on the other side, says what it may)";
	default: return "";
	}
}

enum answer { ANSWER_PAGE, ANSWER_BUSY, ANSWER_OTHER, ANSWER_NO };

/* What a frame is to the question that is open. */
static enum answer
understand(struct asker *asker, struct wire_header *answer, struct text *body,
    struct err *err)
{
	enum wire_fault fault =
	    wire_open(asker->messages[asker->at].frame, answer, body);

	if (fault != WIRE_OK) {
		err_set(err, "the answer cannot be read: %s",
		    wire_fault_name(fault));
		return ANSWER_NO;
	}
	/* A door that does not know what was asked may not say what it
	 * answers. */
	if (answer->sent_ns != asker->asked_ns &&
	    (answer->sent_ns != 0 || answer->type != WIRE_NACK ||
		answer->reason != WIRE_NACK_UNSUPPORTED))
		return ANSWER_OTHER;
	if (answer->type == WIRE_PAGE)
		return ANSWER_PAGE;
	if (answer->type != WIRE_NACK)
		return ANSWER_OTHER;
	if (answer->reason == WIRE_NACK_BUSY)
		return ANSWER_BUSY;
	if (answer->reason == WIRE_NACK_OWNER) {
		err_set(err, "refused: another aggregator keeps this partition "
			     "(poolscope partition list tells which)");
		return ANSWER_NO;
	}
	err_set(err, "refused: %s%s",
	    wire_reason_name((enum wire_reason)answer->reason),
	    explain((enum wire_reason)answer->reason));
	return ANSWER_NO;
}

/* 1: a page; 0: nothing until `until_ns`, or busy; -1. */
static int
listen_for(struct asker *asker, int64_t until_ns, struct wire_header *answer,
    struct text *body, struct err *err)
{
	int64_t nap_ns;

	for (;;) {
		if (port_recv(asker->port, &asker->messages[asker->at]) !=
		    PORT_DONE) {
			if (clock_monotonic_ns() >= until_ns)
				return 0;
			if (wait_for(asker, until_ns, err) != 0)
				return -1;
			continue;
		}
		switch (understand(asker, answer, body, err)) {
		case ANSWER_PAGE: return 1;
		case ANSWER_NO: return -1;
		case ANSWER_OTHER: break;
		case ANSWER_BUSY:
			nap_ns = (int64_t)answer->retry_ms * 1000000;
			nap_ns += clock_monotonic_ns();
			return wait_for(
			    asker, nap_ns < until_ns ? nap_ns : until_ns, err);
		}
	}
}

/* One listening of at most `ns`, and what it took off `left_ns`: who was
 * stopped meanwhile, or whose machine slept, has waited no longer than he meant
 * to, and finds the answer or asks again. */
static int
listen_a_while(struct asker *asker, int64_t ns, int64_t *left_ns,
    struct wire_header *answer, struct text *body, struct err *err)
{
	int64_t began_ns = clock_monotonic_ns(), took_ns;
	int rc;

	if (ns > *left_ns)
		ns = *left_ns;
	rc = listen_for(asker, began_ns + ns, answer, body, err);
	took_ns = clock_monotonic_ns() - began_ns;
	*left_ns -= took_ns < ns ? took_ns : ns;
	return rc;
}

/* The frame of a question into `frame`; 0: it does not fit. */
static size_t
make_frame(const struct asker *asker, struct wire_header *header,
    const struct wire_query *query, char frame[static QUESTION_BYTES])
{
	char question[QUESTION_BYTES];
	size_t bytes = wire_put_query(question, sizeof(question), query);

	header->sent_ns = asker->asked_ns;
	return wire_frame(frame, QUESTION_BYTES, header,
	    (struct text){ question, (uint32_t)bytes });
}

static bool
send_frame(struct asker *asker, const char *frame, size_t bytes)
{
	const struct route nowhere = { 0 };

	return port_send(asker->port, &nowhere,
		   (struct text){ frame, (uint32_t)bytes }) == PORT_DONE;
}

/* A question of its own. */
static void
stamp(struct asker *asker)
{
	int64_t now_ns = clock_wall_ns();

	asker->asked_ns =
	    now_ns > asker->asked_ns ? now_ns : asker->asked_ns + 1;
}

void
asker_ask_ahead(struct asker *asker, struct wire_header *header,
    const struct wire_query *query)
{
	char frame[QUESTION_BYTES];
	size_t bytes;

	stamp(asker);
	bytes = make_frame(asker, header, query, frame);
	asker->is_ahead = bytes > 0 && send_frame(asker, frame, bytes);
}

void
asker_forget(struct asker *asker)
{
	asker->is_ahead = false;
}

int
asker_ask(struct asker *asker, struct wire_header *header,
    const struct wire_query *query, struct wire_header *answer,
    struct text *body, struct err *err)
{
	int64_t left_ns = asker->silence_ns;
	int64_t nap_ms = NAP_FIRST_MS;
	bool is_sent = asker->is_ahead;
	char frame[QUESTION_BYTES];
	size_t bytes;
	int rc = 0;

	asker->is_ahead = false;
	asker->at ^= 1;
	if (!is_sent)
		stamp(asker);
	bytes = make_frame(asker, header, query, frame);
	if (bytes == 0)
		return err_set(err, "the question is too long");
	while (rc == 0 && left_ns > 0) {
		int64_t wait_ms = AGAIN_MS;

		if (!is_sent && !send_frame(asker, frame, bytes)) {
			wait_ms = nap_ms;
			nap_ms = 2 * nap_ms < NAP_MS ? 2 * nap_ms : NAP_MS;
		}
		is_sent = false;
		rc = listen_a_while(
		    asker, wait_ms * 1000000, &left_ns, answer, body, err);
	}
	if (rc == 0)
		err_set(err, "no answer in %.3g s",
		    (double)asker->silence_ns / NS_PER_SECOND);
	return rc > 0 ? 0 : -1;
}
