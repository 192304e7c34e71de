/*
 * submit - gives events to the agent, or leaves them where it will look.
 * SPDX-License-Identifier: MIT
 */
#include "agents/submit/submit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "agents/submit/drop_dir.h"
#include "agents/submit/local_socket.h"
#include "proto/config/instance.h"
#include "proto/os/clock.h"
#include "proto/wire/wire.h"

struct handover {
	const struct handover_options *options;
	struct local local;
	uint64_t seq, events;
	bool told;    /* on stderr, that there is no agent */
	bool unasked; /* records were accepted whose storing was not awaited */

	/* The put under construction. */
	char partition[NAME_BYTES_MAX + 1], node[NAME_BYTES_MAX + 1];
	unsigned char uuid[RECORD_ID_BYTES]; /* of its first record */
	bool numbered; /* has records that keep no uuid: the put must */
	struct wire_writer writer;
	unsigned char body[COMPOSE_BYTES_MAX];
	unsigned char frame[WIRE_PUT_BYTES_MAX];
};

int
handover_check(const struct handover_options *options, struct err *err)
{
	char name[INSTANCE_PATH_BYTES];
	const char *why;

	if (options->partition != NULL &&
	    instance_partition(name, options->partition, &why, err) != 0)
		return -1;
	if (options->node != NULL &&
	    instance_node(name, options->node, &why, err) != 0)
		return -1;
	if (options->timeout_ns <= 0)
		return err_set(err, "--timeout is not above 0");
	return 0;
}

void
handover_new(struct handover **made, const struct handover_options *options)
{
	struct handover *handover = calloc(1, sizeof(*handover));

	if (handover == NULL)
		abort();
	handover->options = options;
	local_init(&handover->local, options->socket);
	wire_writer_init(
	    &handover->writer, handover->body, sizeof(handover->body));
	*made = handover;
}

void
handover_free(struct handover **gone)
{
	if (*gone == NULL)
		return;
	local_clear(&(*gone)->local);
	free(*gone);
	*gone = NULL;
}

/* The frame of what was gathered, as from `partition` and `node`. */
static struct text
frame_of(struct handover *handover, const char *partition, const char *node,
    bool wait)
{
	struct wire_header header = {
		.type = WIRE_PUT,
		.flags = wait ? WIRE_FLAG_WAIT : 0,
		.partition = text_of(partition),
		.node = text_of(node),
		.seq = handover->seq,
		.records = handover->writer.records,
		.sent_ns = clock_wall_ns(),
		.body_bytes = (uint32_t)handover->writer.bytes,
	};
	struct text body = { (const char *)handover->body,
		(uint32_t)handover->writer.bytes };
	size_t bytes;

	if (handover->numbered)
		memcpy(header.session.bytes, handover->uuid, RECORD_ID_BYTES);
	bytes =
	    wire_frame(handover->frame, sizeof(handover->frame), &header, body);

	return (struct text){ (const char *)handover->frame, (uint32_t)bytes };
}

static enum handover_result
refused(enum wire_reason reason, struct err *err)
{
	switch (reason) {
	case WIRE_NACK_FULL:
		err_set(err, "the agent's spool is full");
		return HANDOVER_LATER;
	case WIRE_NACK_IO:
		err_set(err, "the agent's disk refuses");
		return HANDOVER_LATER;
	case WIRE_NACK_BUSY:
		err_set(err, "the agent is busy");
		return HANDOVER_LATER;
	default:
		err_set(err, "refused: %s", wire_reason_name(reason));
		return HANDOVER_FAILED;
	}
}

/* No agent took it: leave it on disk.  `why` is what is wrong with the
 * agent. */
static enum handover_result
leave(struct handover *handover, const char *why, struct err *err)
{
	const struct handover_options *options = handover->options;
	/* What nobody said is said by the agent that takes it, as if it had
	 * been there. */
	struct text frame =
	    frame_of(handover, handover->partition, handover->node, false);
	int rc;

	if (frame.bytes == 0) {
		err_set(err, "the event is too long");
		return HANDOVER_FAILED;
	}
	rc = drop_leave(options->drop, handover->uuid, frame, err);
	if (rc != 0) {
		err_prefix(err, "%s", why);
		return rc > 0 ? HANDOVER_LATER : HANDOVER_FAILED;
	}
	if (options->stored) {
		err_set(err, "%s; left in %s/new, not stored yet", why,
		    options->drop);
		return HANDOVER_LATER;
	}
	if (!handover->told && !options->quiet)
		fprintf(stderr, "%s: %s; left in %s/new\n",
		    program_invocation_short_name, why, options->drop);
	handover->told = true;
	return HANDOVER_DONE;
}

/* What was gathered is accepted; wait until it is stored.  When the agent
 * goes away meanwhile it is put again: the uuids keep it single. */
static enum handover_result
await_stored(struct handover *handover, struct text frame, struct err *err)
{
	int64_t timeout_ns = handover->options->timeout_ns;
	int64_t deadline_ns = clock_monotonic_ns() + timeout_ns;
	enum wire_reason reason = WIRE_REASON_NONE;
	enum local_result result;

	for (;;) {
		result = local_wait(
		    &handover->local, handover->seq, deadline_ns, &reason);
		if (result != LOCAL_LOST)
			break;
		result = local_put(&handover->local, frame, handover->seq,
		    deadline_ns, &reason, err);
		if (result != LOCAL_DONE)
			break;
	}
	switch (result) {
	case LOCAL_DONE: return HANDOVER_DONE;
	case LOCAL_REFUSED: return refused(reason, err);
	case LOCAL_ERROR: return HANDOVER_LATER;
	default:
		err_set(err,
		    "on disk in the agent's spool, but not stored within "
		    "%.3g s",
		    (double)timeout_ns / (double)NS_PER_SECOND);
		return HANDOVER_LATER;
	}
}

/* One put, also an empty one (which waits for those before it). */
static enum handover_result
put(struct handover *handover, bool wait, struct err *err)
{
	const struct handover_options *options = handover->options;
	int64_t deadline_ns = clock_monotonic_ns() + options->timeout_ns;
	enum wire_reason reason = WIRE_REASON_NONE;
	char why[ERR_BYTES];
	struct text frame;

	handover->seq++;
	frame = frame_of(handover, handover->partition, handover->node, wait);
	if (frame.bytes == 0) {
		err_set(err, "the event is too long");
		return HANDOVER_FAILED;
	}
	switch (local_put(&handover->local, frame, handover->seq, deadline_ns,
	    &reason, err)) {
	case LOCAL_DONE:
		return wait ? await_stored(handover, frame, err)
			    : HANDOVER_DONE;
	case LOCAL_REFUSED: return refused(reason, err);
	case LOCAL_ABSENT:
		snprintf(why, sizeof(why), "no agent at %s", options->socket);
		break;
	case LOCAL_ERROR: snprintf(why, sizeof(why), "%s", err->text); break;
	default:
		snprintf(why, sizeof(why), "the agent at %s does not answer",
		    options->socket);
		break;
	}
	if (handover->writer.records > 0)
		return leave(handover, why, err);
	err_set(err, "%s; what was handed over may not be stored yet", why);
	return HANDOVER_LATER;
}

static enum handover_result
hand_over(struct handover *handover, bool wait, struct err *err)
{
	enum handover_result result = put(handover, wait, err);

	if (result == HANDOVER_DONE) {
		handover->events += handover->writer.records;
		handover->unasked =
		    !wait && (handover->unasked || handover->writer.records);
	}
	wire_writer_init(
	    &handover->writer, handover->body, sizeof(handover->body));
	return result;
}

enum handover_result
handover_flush(struct handover *handover, struct err *err)
{
	if (handover->writer.records == 0)
		return HANDOVER_DONE;
	return hand_over(handover, false, err);
}

enum handover_result
handover_finish(struct handover *handover, struct err *err)
{
	bool stored = handover->options->stored;

	if (handover->writer.records == 0 && !(stored && handover->unasked))
		return HANDOVER_DONE;
	return hand_over(handover, stored, err);
}

/* "" where neither the event nor the caller says anything. */
static const char *
or_option(const char *own, const char *option)
{
	return *own != '\0' || option == NULL ? own : option;
}

enum handover_result
handover_add(
    struct handover *handover, const struct compose *compose, struct err *err)
{
	const struct handover_options *options = handover->options;
	const char *partition =
	    or_option(compose->partition, options->partition);
	const char *node = or_option(compose->node, options->node);
	enum handover_result result = HANDOVER_DONE;

	/* What is awaited is what one partition holds (acknowledgements are
	 * per partition), so end it before the next begins. */
	if (strcmp(partition, handover->partition) != 0)
		result = handover_finish(handover, err);
	else if (strcmp(node, handover->node) != 0)
		result = handover_flush(handover, err);
	if (result != HANDOVER_DONE)
		return result;
	snprintf(
	    handover->partition, sizeof(handover->partition), "%s", partition);
	snprintf(handover->node, sizeof(handover->node), "%s", node);
	if (handover->writer.records > 0 &&
	    !wire_put_record(&handover->writer, &compose->record)) {
		result = handover_flush(handover, err);
		if (result != HANDOVER_DONE)
			return result;
	} else if (handover->writer.records > 0) {
		return HANDOVER_DONE;
	}
	memcpy(handover->uuid, compose->uuid, sizeof(handover->uuid));
	handover->numbered = compose->record.kind != RECORD_EVENT;
	if (wire_put_record(&handover->writer, &compose->record))
		return HANDOVER_DONE;
	wire_writer_init(
	    &handover->writer, handover->body, sizeof(handover->body));
	err_set(err, "the event is longer than %d bytes", COMPOSE_BYTES_MAX);
	return HANDOVER_FAILED;
}

uint64_t
handover_events(const struct handover *handover)
{
	return handover->events;
}
