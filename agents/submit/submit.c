/*
 * submit - submits records to the agent, or to the fallback queue.
 * SPDX-License-Identifier: MIT
 */
#include "agents/submit/submit.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "agents/submit/fallback_queue.h"
#include "agents/submit/local_socket.h"
#include "proto/base/memory.h"
#include "proto/config/instance.h"
#include "proto/hash/hash.h"
#include "proto/os/clock.h"
#include "proto/wire/wire.h"

struct submit {
	const struct submit_options *options;
	struct local_socket local_socket;
	uint64_t seq, events;
	bool reported; /* on stderr, that there is no agent */
	/* Of what was accepted; "" if there was none. */
	char refusal[ERR_BYTES];
	bool unconfirmed; /* accepted records have not been confirmed as stored
			   */

	/* The submission under construction. */
	char partition[NAME_BYTES_MAX + 1], node[NAME_BYTES_MAX + 1];
	unsigned char uuid[RECORD_ID_BYTES]; /* of its first record */
	bool identified; /* by the caller, who set the uuid */
	bool numbered;   /* has records without a uuid, so the submission needs
			    one */
	struct wire_writer writer;
	enum wire_reason reason; /* why the agent refused the last one */
	unsigned char body[COMPOSE_BYTES_MAX];
	unsigned char frame[WIRE_PUT_BYTES_MAX];
};

int
submit_check(struct submit_options *options, struct err *err)
{
	char name[INSTANCE_PATH_BYTES];
	const char *why;

	if (options->partition != NULL) {
		if (instance_read_partition(
			options->name, options->partition, err) != 0)
			return -1;
		options->partition = options->name;
	}
	if (options->node != NULL &&
	    instance_node(name, options->node, &why, err) != 0)
		return -1;
	if (options->timeout_ns <= 0)
		return err_set_option(err, "timeout", "must be greater than 0");
	return 0;
}

void
submit_new(struct submit **made, const struct submit_options *options)
{
	struct submit *submit = memory_zero(1, sizeof(*submit));

	submit->options = options;
	local_socket_init(&submit->local_socket, options->socket);
	wire_writer_init(&submit->writer, submit->body, sizeof(submit->body));
	*made = submit;
}

void
submit_free(struct submit **gone)
{
	if (*gone == NULL)
		return;
	local_socket_clear(&(*gone)->local_socket);
	free(*gone);
	*gone = NULL;
}

/* The frame of the collected records, for `partition` and `node`. */
static struct text
frame_of(
    struct submit *submit, const char *partition, const char *node, bool wait)
{
	struct wire_header header = {
		.type = WIRE_PUT,
		.flags = wait ? WIRE_FLAG_WAIT : 0,
		.partition = text_of(partition),
		.node = text_of(node),
		.seq = submit->seq,
		.records = submit->writer.records,
		.sent_ns = clock_wall_ns(),
		.body_bytes = (uint32_t)submit->writer.bytes,
	};
	struct text body = { (const char *)submit->body,
		(uint32_t)submit->writer.bytes };
	size_t bytes;

	if (submit->numbered)
		memcpy(header.session.bytes, submit->uuid, RECORD_ID_BYTES);
	bytes = wire_frame(submit->frame, sizeof(submit->frame), &header, body);

	return (struct text){ (const char *)submit->frame, (uint32_t)bytes };
}

static enum submit_result
refused(enum wire_reason reason, struct err *err)
{
	switch (reason) {
	case WIRE_NACK_FULL:
		if (err->text[0] == '\0')
			err_set(err, "the agent's spool is full");
		return SUBMIT_LATER;
	case WIRE_NACK_IO:
		err_set(err, "the agent's disk failed");
		return SUBMIT_LATER;
	case WIRE_NACK_BUSY:
		err_set(err, "the agent is busy");
		return SUBMIT_LATER;
	default:
		if (err->text[0] == '\0')
			err_set(err, "%s", wire_reason_name(reason));
		err_prefix(err, "refused");
		return SUBMIT_FAILED;
	}
}

/* No agent took it: leave it in the fallback queue.  `why` is the agent's
 * failure. */
static enum submit_result
leave(struct submit *submit, const char *why, struct err *err)
{
	const struct submit_options *options = submit->options;
	/* Without partition and node, the agent that reads it adds its own. */
	struct text frame =
	    frame_of(submit, submit->partition, submit->node, false);
	int rc;

	if (options->fallback == NULL) {
		err_set(err, "%s", why);
		return SUBMIT_LATER;
	}
	if (frame.bytes == 0) {
		err_set(err, "the event is too long");
		return SUBMIT_FAILED;
	}
	rc = fallback_queue_leave(
	    options->fallback, frame, options->free_bytes, err);
	if (rc != 0) {
		err_prefix(err, "%s", why);
		return rc > 0 ? SUBMIT_LATER : SUBMIT_FAILED;
	}
	if (options->stored) {
		err_set(err, "%s; left in %s/new, not stored yet", why,
		    options->fallback);
		return SUBMIT_LATER;
	}
	if (!submit->reported && !options->quiet)
		fprintf(stderr, "%s: %s; left in %s/new\n",
		    program_invocation_short_name, why, options->fallback);
	submit->reported = true;
	return SUBMIT_DONE;
}

/* The records are on disk, but the aggregator refuses them, as the agent knows
 * already. */
static void
note_refusal(struct submit *submit)
{
	const struct local_socket *agent = &submit->local_socket;

	if (agent->forbidden[0] == '\0')
		return;
	snprintf(submit->refusal, sizeof(submit->refusal),
	    "records wait in the agent's spool: partition '%.64s', node "
	    "'%.64s' is "
	    "forbidden by %s",
	    *submit->partition ? submit->partition : agent->partition,
	    *submit->node ? submit->node : agent->node, agent->forbidden);
}

/* The collected records are accepted; wait until they are stored.  If the
 * agent disappears in the meantime submit again: the uuids prevent duplicates.
 */
static enum submit_result
await_stored(struct submit *submit, struct text frame, struct err *err)
{
	int64_t timeout_ns = submit->options->timeout_ns;
	int64_t deadline_ns = clock_monotonic_ns() + timeout_ns;
	enum wire_reason reason = WIRE_REASON_NONE;
	enum local_socket_result result;

	for (;;) {
		result = local_socket_wait(
		    &submit->local_socket, submit->seq, deadline_ns, &reason);
		if (result != LOCAL_SOCKET_LOST)
			break;
		result = local_socket_put(&submit->local_socket, frame,
		    submit->seq, deadline_ns, &reason, err);
		if (result != LOCAL_SOCKET_DONE)
			break;
	}
	switch (result) {
	case LOCAL_SOCKET_DONE: return SUBMIT_DONE;
	case LOCAL_SOCKET_REFUSED: return refused(reason, err);
	case LOCAL_SOCKET_ERROR: return SUBMIT_LATER;
	default:
		note_refusal(submit);
		if (submit->refusal[0] != '\0') {
			err_set(err, "%s", submit->refusal);
			return SUBMIT_FORBIDDEN;
		}
		err_set(err,
		    "on disk in the agent's spool, but not stored within "
		    "%.3g s",
		    (double)timeout_ns / (double)NS_PER_SECOND);
		return SUBMIT_LATER;
	}
}

/* One submission, also an empty one (which waits for those before it). */
static enum submit_result
put(struct submit *submit, bool wait, struct err *err)
{
	const struct submit_options *options = submit->options;
	int64_t deadline_ns = clock_monotonic_ns() + options->timeout_ns;
	enum wire_reason reason = WIRE_REASON_NONE;
	char why[ERR_BYTES];
	struct text frame;

	submit->seq++;
	submit->reason = WIRE_REASON_NONE;
	frame = frame_of(submit, submit->partition, submit->node, wait);
	if (frame.bytes == 0) {
		err_set(err, "the event is too long");
		return SUBMIT_FAILED;
	}
	switch (local_socket_put(&submit->local_socket, frame, submit->seq,
	    deadline_ns, &reason, err)) {
	case LOCAL_SOCKET_DONE:
		if (wait)
			return await_stored(submit, frame, err);
		note_refusal(submit);
		return SUBMIT_DONE;
	case LOCAL_SOCKET_REFUSED:
		submit->reason = reason;
		return refused(reason, err);
	case LOCAL_SOCKET_ABSENT:
		snprintf(why, sizeof(why), "no agent at %s", options->socket);
		break;
	case LOCAL_SOCKET_ERROR:
		snprintf(why, sizeof(why), "%s", err->text);
		break;
	default:
		snprintf(why, sizeof(why), "the agent at %s does not answer",
		    options->socket);
		break;
	}
	if (submit->writer.records > 0)
		return leave(submit, why, err);
	err_set(err, "%s; accepted records may not be stored yet", why);
	return SUBMIT_LATER;
}

/* Metric groups, one of which the agent has refused. */
static bool
has_refused_group(const struct submit *submit)
{
	return submit->options->on_refused != NULL &&
	       submit->reason == WIRE_NACK_MALFORMED &&
	       submit->writer.records > 0;
}

static enum submit_result
put_group(struct submit *submit, const struct record *definition,
    const struct record *sample, struct err *err)
{
	enum submit_result result;

	wire_writer_init(&submit->writer, submit->body, sizeof(submit->body));
	if (!submit->identified)
		hash_random_bytes(submit->uuid, sizeof(submit->uuid));
	wire_put_record(&submit->writer, definition);
	wire_put_record(&submit->writer, sample);
	err_clear(err);
	result = put(submit, false, err);
	if (result == SUBMIT_DONE)
		submit->events += submit->writer.records;
	if (submit->reason != WIRE_NACK_MALFORMED)
		return result;
	submit->options->on_refused(submit->options->arg, definition, err);
	return SUBMIT_DONE;
}

/* Submit the collected groups one by one. */
static enum submit_result
put_groups(struct submit *submit, bool wait, struct err *err)
{
	uint32_t bytes = (uint32_t)submit->writer.bytes;
	char *plain = memory_copy(submit->body, bytes);
	const struct wire_header header = { .type = WIRE_PUT,
		.node = text_of(submit->node) };
	enum submit_result result = SUBMIT_DONE;
	struct record definition, sample;
	struct wire_cursor cursor;

	wire_cursor_init(&cursor, &header, (struct text){ plain, bytes });
	while (result == SUBMIT_DONE && wire_next(&cursor, &definition) &&
	       wire_next(&cursor, &sample))
		result = put_group(submit, &definition, &sample, err);
	free(plain);
	submit->unconfirmed = true;
	wire_writer_init(&submit->writer, submit->body, sizeof(submit->body));
	return result == SUBMIT_DONE && wait ? put(submit, true, err) : result;
}

static enum submit_result
submit_collected(struct submit *submit, bool wait, struct err *err)
{
	enum submit_result result = put(submit, wait, err);

	if (result == SUBMIT_FAILED && has_refused_group(submit))
		return put_groups(submit, wait, err);
	if (result == SUBMIT_DONE) {
		submit->events += submit->writer.records;
		submit->unconfirmed =
		    !wait && (submit->unconfirmed || submit->writer.records);
	}
	wire_writer_init(&submit->writer, submit->body, sizeof(submit->body));
	return result;
}

enum submit_result
submit_reserve(struct submit *submit, size_t bytes, struct err *err)
{
	return submit->writer.bytes + bytes > sizeof(submit->body)
		   ? submit_flush(submit, err)
		   : SUBMIT_DONE;
}

enum submit_result
submit_flush(struct submit *submit, struct err *err)
{
	if (submit->writer.records == 0)
		return SUBMIT_DONE;
	return submit_collected(submit, false, err);
}

static enum submit_result
finish_partition(struct submit *submit, struct err *err)
{
	bool stored = submit->options->stored;

	if (submit->writer.records == 0 && !(stored && submit->unconfirmed))
		return SUBMIT_DONE;
	return submit_collected(submit, stored, err);
}

enum submit_result
submit_finish(struct submit *submit, struct err *err)
{
	enum submit_result result = finish_partition(submit, err);

	if (result == SUBMIT_DONE && submit->refusal[0] != '\0') {
		err_set(err, "%s", submit->refusal);
		result = SUBMIT_FORBIDDEN;
	}
	return result;
}

/* "" if neither the event nor the caller sets it. */
static const char *
or_option(const char *own, const char *option)
{
	return *own != '\0' || option == NULL ? own : option;
}

void
submit_identify(struct submit *submit, const struct session_id *session)
{
	assert(submit->writer.records == 0);
	memcpy(submit->uuid, session->bytes, sizeof(submit->uuid));
	submit->identified = submit->numbered = true;
	submit->seq = 0;
}

enum submit_result
submit_add(
    struct submit *submit, const struct compose *compose, struct err *err)
{
	const struct submit_options *options = submit->options;
	const char *partition =
	    or_option(compose->partition, options->partition);
	const char *node = or_option(compose->node, options->node);
	enum submit_result result = SUBMIT_DONE;

	/* Waiting applies to one partition (as acknowledgements do), so end it
	 * before the next begins. */
	if (strcmp(partition, submit->partition) != 0)
		result = finish_partition(submit, err);
	else if (strcmp(node, submit->node) != 0)
		result = submit_flush(submit, err);
	if (result != SUBMIT_DONE)
		return result;
	snprintf(submit->partition, sizeof(submit->partition), "%s", partition);
	snprintf(submit->node, sizeof(submit->node), "%s", node);
	if (submit->writer.records > 0 &&
	    !wire_put_record(&submit->writer, &compose->record)) {
		result = submit_flush(submit, err);
		if (result != SUBMIT_DONE)
			return result;
	} else if (submit->writer.records > 0) {
		return SUBMIT_DONE;
	}
	if (!submit->identified) {
		memcpy(submit->uuid, compose->uuid, sizeof(submit->uuid));
		submit->numbered = compose->record.kind != RECORD_EVENT;
	}
	if (wire_put_record(&submit->writer, &compose->record))
		return SUBMIT_DONE;
	wire_writer_init(&submit->writer, submit->body, sizeof(submit->body));
	err_set(err, "the event is longer than %d bytes", COMPOSE_BYTES_MAX);
	return SUBMIT_FAILED;
}

uint64_t
submit_events(const struct submit *submit)
{
	return submit->events;
}
