/*
 * generate_testrun_rows - generates test runs as rows, to send them like an
 * import.
 * SPDX-License-Identifier: MIT
 */
#include "agents/generate/testrun_rows.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>

#include "agents/import/formats/testrun.h"
#include "proto/os/clock.h"

int
generate_rows_open(struct generate_rows *rows, const struct generate_runs *runs,
    struct text node, struct err *err)
{
	crypto_generichash_state state;
	char which[256];

	if (sodium_init() < 0)
		return err_set(err, "libsodium does not start");
	*rows = (struct generate_rows){
		.runs = *runs,
		.node = node,
		.event = GENERATE_EVENTS,
	};
	/* Change this word when the same numbers give other runs. */
	snprintf(which, sizeof(which),
	    "generate testrun 1 %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
	    " %" PRId64 " ",
	    runs->seed, runs->runs, runs->spacing_s, runs->first, runs->base_s);
	crypto_generichash_init(&state, NULL, 0, sizeof(rows->digest));
	crypto_generichash_update(
	    &state, (const unsigned char *)which, strlen(which));
	crypto_generichash_update(
	    &state, (const unsigned char *)node.at, node.bytes);
	crypto_generichash_final(&state, rows->digest, sizeof(rows->digest));
	return 0;
}

static int
put_text(
    struct import_row *row, const char *key, const char *text, struct err *err)
{
	struct value value = { .type = text != NULL ? VALUE_TEXT : VALUE_NIL,
		.is.text = text_of(text) };

	return import_row_put(row, key, &value, err);
}

static int
put_run(struct import_row *row, const struct generate_run *run, struct err *err)
{
	import_testrun_put_run(row, text_of(run->id));
	if (put_text(row, "device_group", GENERATE_GROUP, err) != 0 ||
	    put_text(row, "queue", GENERATE_QUEUE, err) != 0 ||
	    put_text(row, "configuration", GENERATE_CONFIGURATION, err) != 0 ||
	    put_text(row, "host_worker_instances", run->hosts, err) != 0 ||
	    put_text(row, "requestor", run->requestor, err) != 0 ||
	    put_text(row, "request_id", run->request_id, err) != 0)
		return -1;
	return put_text(row, "error", run->error, err);
}

static int
put_event(struct import_row *row, const struct generate_run *run,
    const struct generate_event *event, struct err *err)
{
	int64_t receive_ns = event->receive_s * NS_PER_SECOND;

	return import_testrun_put_event(row, text_of(run->id),
	    text_of(event->name), event->emit_s * NS_PER_SECOND, &receive_ns,
	    err);
}

static enum import_next
next_row(void *arg, struct import_row *row, struct err *err)
{
	struct generate_rows *rows = arg;
	int rc;

	if (rows->event < GENERATE_EVENTS) {
		rc = put_event(
		    row, &rows->run, &rows->run.event[rows->event++], err);
	} else if (generate_runs_next(&rows->runs, &rows->run)) {
		rows->event = 0;
		rc = put_run(row, &rows->run, err);
	} else {
		return IMPORT_END;
	}
	row->record.node = rows->node;
	rows->given++;
	return rc == 0 ? IMPORT_LINE : IMPORT_FAILED;
}

static uint64_t
get_given(const void *arg)
{
	const struct generate_rows *rows = arg;

	return rows->given;
}

static void
rewind_rows(void *arg)
{
	struct generate_rows *rows = arg;

	generate_runs_begin(
	    &rows->runs, NULL); /* cannot fail: it succeeded before */
	rows->event = GENERATE_EVENTS;
	rows->given = 0;
}

struct import_source
generate_rows_source(struct generate_rows *rows)
{
	return (struct import_source){
		.kind = IMPORT_TESTRUN,
		.name = "testrun",
		.bytes = rows->runs.runs * (1 + GENERATE_EVENTS),
		.digest = rows->digest,
		.next = next_row,
		.offset = get_given,
		.line = get_given,
		.rewind = rewind_rows,
		.arg = rows,
	};
}
