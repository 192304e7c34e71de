/*
 * remote_source - request pages from a query server.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/source/remote_source.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "proto/auth/refusal.h"
#include "proto/base/memory.h"
#include "proto/net/zsock.h"
#include "proto/os/clock.h"

enum {
	QUESTION_BYTES = WIRE_QUERY_BYTES_MAX + WIRE_HEADER_BYTES_MAX + 64,
	QUEUE_MESSAGES = 4,
	AHEAD_MAX = QUEUE_MESSAGES, /* no queue is too short for the pages */
	AGAIN_MS = 1000,            /* resend an unanswered query after this */
	NAP_FIRST_MS =
	    1, /* while not connected: a short wait, then longer ones */
	NAP_MS = 50,
};

/* For an answer that is being read from an archive. */
#define FETCHING_NS (600 * NS_PER_SECOND)

struct asked {
	char frame[QUESTION_BYTES];
	size_t frame_bytes;
	int64_t sent_ns; /* its number, which the answer repeats */
	bool is_sent;
	struct buffer answer; /* that came before its turn */
};

struct remote_source {
	struct zsock *zsock;
	struct zsock_message message; /* the last page */
	int64_t silence_ns;
	bool is_fetching; /* the last answer was that there is none yet */
	int64_t sent_ns;  /* of the last query that was made */
	struct asked now, ahead[AHEAD_MAX];
	uint32_t ahead_count;
};

/* Is waiting useless?  Then `err` gives the reason. */
static bool
is_refused(struct remote_source *remote_source, struct err *err)
{
	struct err why;

	if (!zsock_watch(remote_source->zsock))
		return false;
	if (zsock_is_absent(remote_source->zsock, &why)) {
		err_set(err, "%.400s (is the aggregator running?)", why.text);
		return true;
	}
	switch (refusal_get(remote_source->zsock, err)) {
	case ZSOCK_FINE: return false;
	case ZSOCK_TRY_NEXT:
		return zsock_reconnect(remote_source->zsock, err) != 0;
	default: return true;
	}
}

/* Sleep until the socket is readable or until `until_ns`; -1: the socket
 * failed. */
static int
wait_for(struct remote_source *remote_source, int64_t until_ns, struct err *err)
{
	while (!zsock_is_ready(remote_source->zsock)) {
		int64_t left_ns = until_ns - clock_monotonic_ns();
		struct pollfd fds[] = {
			{ .fd = zsock_fd(remote_source->zsock),
			    .events = POLLIN },
			{ .fd = zsock_watch_fd(remote_source->zsock),
			    .events = POLLIN },
		};

		if (is_refused(remote_source, err))
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
		return ": its version does not support this query";
	case WIRE_NACK_FORBIDDEN:
		return ": the key may not read this partition (run `poolscope "
		       "keys list` on the server to see what it may read)";
	default: return "";
	}
}

enum answer { ANSWER_PAGE, ANSWER_BUSY, ANSWER_OTHER, ANSWER_NO };

/* How a received frame relates to the open query. */
static enum answer
understand(struct remote_source *remote_source, struct text frame,
    struct wire_header *answer, struct text *body, struct err *err)
{
	enum wire_fault fault = wire_open(frame, answer, body);

	if (fault == WIRE_OTHER_VERSION) {
		err_set(err,
		    "it speaks version %u of the wire protocol, this program "
		    "supports version %d: install the same version on both",
		    wire_version(frame), WIRE_VERSION);
		return ANSWER_NO;
	}
	if (fault != WIRE_OK) {
		err_set(
		    err, "cannot parse the answer: %s", wire_fault_name(fault));
		return ANSWER_NO;
	}
	/* A listener that does not know the query may not echo its number. */
	if (answer->sent_ns != remote_source->now.sent_ns &&
	    (answer->sent_ns != 0 || answer->type != WIRE_NACK ||
		answer->reason != WIRE_NACK_UNSUPPORTED))
		return ANSWER_OTHER;
	if (answer->type == WIRE_PAGE)
		return ANSWER_PAGE;
	if (answer->type != WIRE_NACK)
		return ANSWER_OTHER;
	remote_source->is_fetching = answer->reason == WIRE_NACK_FETCHING;
	if (answer->reason == WIRE_NACK_BUSY || remote_source->is_fetching)
		return ANSWER_BUSY;
	if (answer->reason == WIRE_NACK_IO && answer->detail.bytes > 0)
		err_set(err, "refused: %.*s", (int)answer->detail.bytes,
		    answer->detail.at);
	else
		err_set(err, "refused: %s%s",
		    wire_reason_name((enum wire_reason)answer->reason),
		    explain((enum wire_reason)answer->reason));
	return ANSWER_NO;
}

/* The next frame: that which came before its turn, or one of the socket. */
static bool
receive(struct remote_source *remote_source, struct text *frame)
{
	struct asked *now = &remote_source->now;

	if (now->answer.bytes > 0) {
		*frame = buffer_text(&now->answer);
		now->answer.bytes = 0; /* the view stays */
		return true;
	}
	if (zsock_recv(remote_source->zsock, &remote_source->message) !=
	    ZSOCK_DONE)
		return false;
	*frame = remote_source->message.frame;
	return true;
}

/* It may answer a question whose turn is still to come. */
static void
keep_early(
    struct remote_source *remote_source, int64_t sent_ns, struct text frame)
{
	for (uint32_t i = 0; i < remote_source->ahead_count; i++) {
		struct asked *asked = &remote_source->ahead[i];

		if (asked->sent_ns != sent_ns)
			continue;
		asked->answer.bytes = 0;
		buffer_put_text(&asked->answer, frame);
	}
}

/* 1: a page; 0: none until `until_ns`, or busy; -1: error. */
static int
listen_for(struct remote_source *remote_source, int64_t until_ns,
    struct wire_header *answer, struct text *body, struct err *err)
{
	struct text frame;
	int64_t nap_ns;

	for (;;) {
		if (!receive(remote_source, &frame)) {
			if (clock_monotonic_ns() >= until_ns)
				return 0;
			if (wait_for(remote_source, until_ns, err) != 0)
				return -1;
			continue;
		}
		switch (understand(remote_source, frame, answer, body, err)) {
		case ANSWER_PAGE: return 1;
		case ANSWER_NO: return -1;
		case ANSWER_OTHER:
			keep_early(remote_source, answer->sent_ns, frame);
			break;
		case ANSWER_BUSY:
			nap_ns = (int64_t)answer->retry_ms * 1000000;
			nap_ns += clock_monotonic_ns();
			return wait_for(remote_source,
			    nap_ns < until_ns ? nap_ns : until_ns, err);
		}
	}
}

/* Wait at most `ns` and subtract it from `left_ns`.  Time in which the process
 * was stopped, or the machine slept, does not count as waiting: afterwards the
 * answer is there or the query is sent again. */
static int
listen_a_while(struct remote_source *remote_source, int64_t ns,
    int64_t *left_ns, struct wire_header *answer, struct text *body,
    struct err *err)
{
	int64_t began_ns = clock_monotonic_ns(), took_ns;
	int rc;

	if (ns > *left_ns)
		ns = *left_ns;
	rc = listen_for(remote_source, began_ns + ns, answer, body, err);
	took_ns = clock_monotonic_ns() - began_ns;
	*left_ns -= took_ns < ns ? took_ns : ns;
	return rc;
}

/* 0: it does not fit. */
static size_t
put_frame(char to[static QUESTION_BYTES], const struct pages_question *question,
    int64_t sent_ns)
{
	struct wire_header header = question->header;
	char query[QUESTION_BYTES];
	size_t bytes = wire_put_query(query, sizeof(query), &question->query);

	header.sent_ns = sent_ns;
	return wire_frame(to, QUESTION_BYTES, &header,
	    (struct text){ query, (uint32_t)bytes });
}

/* Make the frame of a query that was not sent before; false: it does not
 * fit. */
static bool
make_frame(struct remote_source *remote_source, struct asked *asked,
    const struct pages_question *question)
{
	int64_t now_ns = clock_wall_ns();

	remote_source->sent_ns = now_ns > remote_source->sent_ns
				     ? now_ns
				     : remote_source->sent_ns + 1;
	asked->sent_ns = remote_source->sent_ns;
	asked->is_sent = false;
	asked->answer.bytes = 0;
	asked->frame_bytes = put_frame(asked->frame, question, asked->sent_ns);
	return asked->frame_bytes > 0;
}

static bool
send_one(struct remote_source *remote_source, struct asked *asked)
{
	const struct route nowhere = { 0 };
	const struct text frame = { asked->frame,
		(uint32_t)asked->frame_bytes };

	if (zsock_send(remote_source->zsock, &nowhere, frame) != ZSOCK_DONE)
		return false;
	asked->is_sent = true;
	return true;
}

/* The query, and behind it those whose turn comes later. */
static bool
send_frame(struct remote_source *remote_source)
{
	if (!send_one(remote_source, &remote_source->now))
		return false;
	for (uint32_t i = 0; i < remote_source->ahead_count; i++)
		if (!remote_source->ahead[i].is_sent)
			send_one(remote_source, &remote_source->ahead[i]);
	return true;
}

static bool
start(void *arg, const struct pages_question *question)
{
	struct remote_source *remote_source = arg;

	return make_frame(remote_source, &remote_source->now, question) &&
	       send_frame(remote_source);
}

/* NULL: it was not asked ahead. */
static struct asked *
find_ahead(
    struct remote_source *remote_source, const struct pages_question *question)
{
	char frame[QUESTION_BYTES];

	for (uint32_t i = 0; i < remote_source->ahead_count; i++) {
		struct asked *asked = &remote_source->ahead[i];
		size_t bytes = put_frame(frame, question, asked->sent_ns);

		if (bytes == asked->frame_bytes &&
		    memcmp(frame, asked->frame, bytes) == 0)
			return asked;
	}
	return NULL;
}

static void
forget_ahead(struct remote_source *remote_source)
{
	while (remote_source->ahead_count > 0)
		buffer_clear(
		    &remote_source->ahead[--remote_source->ahead_count].answer);
}

/* While there is no connection yet it cannot be sent. */
static void
ahead(void *arg, const struct pages_question *question)
{
	struct remote_source *remote_source = arg;

	if (question == NULL)
		forget_ahead(remote_source);
	else if (remote_source->ahead_count < AHEAD_MAX &&
		 find_ahead(remote_source, question) == NULL &&
		 make_frame(remote_source,
		     &remote_source->ahead[remote_source->ahead_count],
		     question))
		remote_source->ahead_count++;
}

/* Was it asked ahead?  Then it is the query now. */
static bool
turn_comes(
    struct remote_source *remote_source, const struct pages_question *question)
{
	struct asked *asked = find_ahead(remote_source, question), *last;

	if (asked == NULL)
		return false;
	buffer_clear(&remote_source->now.answer);
	remote_source->now = *asked;
	last = &remote_source->ahead[--remote_source->ahead_count];
	if (asked != last)
		*asked = *last;
	memset(&last->answer, 0, sizeof(last->answer));
	return true;
}

/* Ask until there is an answer: 1; 0: silence, or FETCHING_NS have passed; -1:
 * error. */
static int
ask_until(struct remote_source *remote_source, bool is_sent,
    struct wire_header *answer, struct text *body, struct err *err)
{
	int64_t left_ns = remote_source->silence_ns, fetching_ns = FETCHING_NS;
	int64_t nap_ms = NAP_FIRST_MS;
	int rc = 0;

	while (rc == 0 && left_ns > 0 && fetching_ns > 0) {
		int64_t wait_ms = AGAIN_MS, before_ns = left_ns;

		remote_source->is_fetching = false;
		if (!is_sent && !send_frame(remote_source)) {
			wait_ms = nap_ms;
			nap_ms = 2 * nap_ms < NAP_MS ? 2 * nap_ms : NAP_MS;
		}
		is_sent = false;
		rc = listen_a_while(remote_source, wait_ms * 1000000, &left_ns,
		    answer, body, err);
		if (!remote_source->is_fetching)
			continue;
		/* Whoever says so is not silent. */
		fetching_ns -= before_ns - left_ns;
		left_ns = remote_source->silence_ns;
	}
	return rc;
}

static int
take(void *arg, const struct pages_question *question, bool is_started,
    struct wire_header *answer, struct text *body, struct err *err)
{
	struct remote_source *remote_source = arg;
	int rc;

	if (!is_started && !turn_comes(remote_source, question) &&
	    !make_frame(remote_source, &remote_source->now, question))
		return err_set(err, "the query is too long");
	rc = ask_until(
	    remote_source, remote_source->now.is_sent, answer, body, err);
	if (rc == 0 && remote_source->is_fetching)
		err_set(err,
		    "the archive was read for %d minutes, and it takes longer; "
		    "ask again, or for less",
		    (int)(FETCHING_NS / (60 * NS_PER_SECOND)));
	else if (rc == 0)
		err_set(err, "no answer in %.3g s",
		    (double)remote_source->silence_ns / NS_PER_SECOND);
	return rc > 0 ? 0 : -1;
}

static void
close_socket(void *arg)
{
	struct remote_source *old = arg;

	forget_ahead(old);
	buffer_clear(&old->now.answer);
	zsock_message_clear(&old->message);
	zsock_close(&old->zsock);
	free(old);
}

int
remote_source_open(struct pages *pages, const struct client_key_values *key,
    const char *endpoint, int64_t silence_ns, struct err *err)
{
	/* The answer to a dropped query has another time: it is ignored. */
	static const struct pages_transport transport = {
		.start = start,
		.take = take,
		.ahead = ahead,
		.drop = NULL,
		.close = close_socket,
		.page_bytes = WIRE_PAGE_BYTES,
	};
	struct zsock_options options = {
		.kind = ZSOCK_CONNECTION,
		.queue_messages = QUEUE_MESSAGES,
		.frame_bytes_max = WIRE_FRAME_BYTES_MAX,
	};
	struct remote_source *remote_source =
	    memory_zero(1, sizeof(*remote_source));

	remote_source->silence_ns = silence_ns;
	zsock_message_init(&remote_source->message);
	if (client_key_load(&options, key, endpoint, "reader", err) == 0 &&
	    zsock_open(&remote_source->zsock, &options, err) == 0 &&
	    zsock_connect(remote_source->zsock, endpoint, err) == 0) {
		pages_init(pages, &transport, remote_source);
		return 0;
	}
	close_socket(remote_source);
	return -1;
}
