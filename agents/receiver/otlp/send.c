/*
 * otlp_send - hands the records of a request to the agent.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/otlp/send.h"

#include <string.h>

#include "agents/submit/prometheus_page.h"
#include "proto/base/version.h"
#include "proto/hash/blake2b.h"
#include "proto/metric/definition.h"
#include "proto/record/counter_rate.h"

void
otlp_send_begin(struct otlp_send *send, const char *kind, struct text body)
{
	/* Another release may make other records of the same bytes: they must
	 * not pass for these. */
	struct {
		char kind[16], version[16];
		unsigned char body[RECORD_ID_BYTES];
	} request = { .version = VERSION };
	struct session_id session;

	memcpy(request.kind, kind, strnlen(kind, sizeof(request.kind)));
	blake2b(request.body, sizeof(request.body), body.at, body.bytes);
	blake2b(
	    session.bytes, sizeof(session.bytes), &request, sizeof(request));
	submit_identify(send->submit, &session);
	memcpy(send->request, session.bytes, sizeof(send->request));
	send->result = SUBMIT_DONE;
	err_clear(&send->err);
	send->refused = send->reported = send->waiting = 0;
	send->events = submit_events(send->submit);
}

/* What was collected is refused. */
static void
refuse_waiting(struct otlp_send *send)
{
	send->refused += send->waiting;
	send->waiting = 0;
}

static enum submit_result
note(struct otlp_send *send, enum submit_result result, const struct err *err)
{
	uint64_t events = submit_events(send->submit);

	/* The agent has what was collected. */
	if (events > send->events)
		send->waiting = 0;
	send->events = events;
	send->result = result;
	if (result != SUBMIT_DONE && send->err.text[0] == '\0')
		send->err = *err;
	return result;
}

static enum submit_result
add(struct otlp_send *send, const struct compose *compose)
{
	struct err err = { 0 };
	enum submit_result result = submit_add(send->submit, compose, &err);

	note(send, result, &err);
	send->waiting += result == SUBMIT_DONE;
	return result;
}

static enum submit_result
flush(struct otlp_send *send)
{
	struct err err = { 0 };

	return note(send, submit_flush(send->submit, &err), &err);
}

/* ---- spans and events ---- */

int
otlp_send_record(void *arg, const struct compose *compose)
{
	struct otlp_send *send = arg;

	if (add(send, compose) == SUBMIT_FAILED) {
		/* Those before it, or this one. */
		refuse_waiting(send);
		if (add(send, compose) == SUBMIT_FAILED)
			send->refused++;
	}
	return send->result == SUBMIT_LATER ? -1 : 0;
}

int
otlp_send_end(struct otlp_send *send)
{
	if (flush(send) == SUBMIT_FAILED)
		refuse_waiting(send);
	return send->result == SUBMIT_LATER ? -1 : 0;
}

/* ---- groups ---- */

static enum submit_result
add_group(struct otlp_send *send, const struct dynamic_group *group)
{
	struct err err = { 0 };
	enum submit_result result =
	    prometheus_page_add(send->submit, send->compose, group, &err);

	note(send, result, &err);
	send->waiting += result == SUBMIT_DONE ? group->numbers : 0;
	return result;
}

int
otlp_send_group(void *arg, const struct dynamic_group *group)
{
	struct otlp_send *send = arg;

	/* Those before it, for a reason that is not one of them. */
	if (add_group(send, group) == SUBMIT_FAILED) {
		refuse_waiting(send);
		if (add_group(send, group) == SUBMIT_FAILED)
			send->refused += group->numbers;
	}
	return send->result == SUBMIT_LATER ? -1 : 0;
}

void
otlp_send_refuse(
    void *arg, const struct record *definition, const struct err *err)
{
	struct otlp_send *send = arg;
	struct definition columns = { .names = { NULL, 0 } };
	uint32_t numbers = 0;
	struct text word;

	if (send->err.text[0] == '\0')
		send->err = *err;
	definition_of(definition, &columns);
	while ((word = text_next_word(&columns.names)).bytes > 0) {
		if (text_equal(word, text_of(COUNTER_RATE_BOOT_COLUMN)))
			continue;
		report_refused(send->report, word, 1);
		numbers++;
	}
	send->refused += numbers;
	send->reported += numbers;
	send->waiting -= numbers < send->waiting ? numbers : send->waiting;
}
