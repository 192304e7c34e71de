/*
 * otlp_send - hands the records of a request to the agent.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/otlp/send.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/base/version.h"
#include "proto/hash/blake2b.h"

/* The session of a part of the request.  Another release may make other
 * records of the same bytes: they must not pass for these. */
static void
begin_session(struct otlp_send *send, uint32_t page, uint64_t group)
{
	struct {
		unsigned char request[RECORD_ID_BYTES];
		char version[16];
		uint64_t page, group;
	} part = { .version = VERSION, .page = page, .group = group };
	struct session_id session;

	memcpy(part.request, send->request, sizeof(part.request));
	blake2b(session.bytes, sizeof(session.bytes), &part, sizeof(part));
	submit_identify(send->submit, &session);
	send->added = send->gone = 0;
	send->events = submit_events(send->submit);
}

void
otlp_send_begin(struct otlp_send *send, const char *kind, struct text body)
{
	struct {
		char kind[16];
		unsigned char body[RECORD_ID_BYTES];
	} request = { .kind = "" };

	memcpy(request.kind, kind, strnlen(kind, sizeof(request.kind)));
	blake2b(request.body, sizeof(request.body), body.at, body.bytes);
	blake2b(
	    send->request, sizeof(send->request), &request, sizeof(request));
	send->result = SUBMIT_DONE;
	err_clear(&send->err);
	send->refused = send->groups = 0;
	send->pages = send->ranges = 0;
	send->alone = false;
	begin_session(send, 0, 0);
}

void
otlp_send_clear(struct otlp_send *send)
{
	free(send->range);
	send->range = NULL;
	send->range_room = send->ranges = 0;
}

/* A submission was refused: how many records it had. */
static uint64_t
take_refused(struct otlp_send *send)
{
	uint64_t stored = submit_events(send->submit) - send->events;
	uint64_t records = send->added - send->gone - stored;

	send->gone += records;
	return records;
}

static enum submit_result
note(struct otlp_send *send, enum submit_result result, const struct err *err)
{
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

	send->added += result == SUBMIT_DONE;
	return note(send, result, &err);
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
		send->refused += take_refused(send);
		if (add(send, compose) == SUBMIT_FAILED)
			send->refused++;
	}
	return send->result == SUBMIT_LATER ? -1 : 0;
}

int
otlp_send_end(struct otlp_send *send)
{
	if (flush(send) == SUBMIT_FAILED)
		send->refused += take_refused(send);
	return send->result == SUBMIT_LATER ? -1 : 0;
}

/* ---- groups ---- */

/* The groups of the refused submission, which are two records each: from the
 * one that it began with to the one before `end`. */
static void
note_refused(struct otlp_send *send, uint64_t end)
{
	uint64_t records = take_refused(send);

	send->range = memory_grow(
	    send->range, &send->range_room, send->ranges, sizeof(*send->range));
	send->range[send->ranges++] =
	    (struct otlp_range){ (send->added - records) / 2, end };
}

static bool
was_refused(const struct otlp_send *send, uint64_t group)
{
	for (uint32_t i = 0; i < send->ranges; i++)
		if (group >= send->range[i].from && group < send->range[i].to)
			return true;
	return false;
}

static enum submit_result
add_record(struct otlp_send *send, const struct record *record)
{
	compose_record(send->compose, record);
	return add(send, send->compose);
}

static void
add_group(struct otlp_send *send, const struct dynamic_group *group)
{
	uint64_t number = send->groups;

	if (add_record(send, &group->definition) == SUBMIT_FAILED) {
		note_refused(send, number);
		add_record(send, &group->definition);
	}
	if (send->result == SUBMIT_DONE &&
	    add_record(send, &group->sample) == SUBMIT_FAILED) {
		note_refused(send, number + 1);
		/* Keeps the count of two records each. */
		send->added++;
		send->gone++;
	}
}

static void
add_alone(struct otlp_send *send, const struct dynamic_group *group)
{
	if (!was_refused(send, send->groups))
		return;
	begin_session(send, send->pages, send->groups + 1);
	if (add_record(send, &group->definition) == SUBMIT_DONE &&
	    add_record(send, &group->sample) == SUBMIT_DONE)
		flush(send);
	if (send->result != SUBMIT_FAILED)
		return;
	send->refused += group->numbers;
	report_refused(send->report, group->number[0].name, group->numbers);
}

int
otlp_send_group(void *arg, const struct dynamic_group *group)
{
	struct otlp_send *send = arg;

	if (send->alone)
		add_alone(send, group);
	else
		add_group(send, group);
	send->groups++;
	return send->result == SUBMIT_LATER ? -1 : 0;
}

int
otlp_send_page(void *arg)
{
	struct otlp_send *send = arg;

	if (!send->alone && flush(send) == SUBMIT_FAILED)
		note_refused(send, send->groups);
	if (send->result == SUBMIT_LATER)
		return -1;
	send->groups = 0;
	if (!send->alone && send->ranges > 0) {
		send->alone = true;
		return 1;
	}
	send->ranges = 0;
	send->alone = false;
	send->pages++;
	begin_session(send, send->pages, 0);
	return 0;
}
