/*
 * deliver - collect the items of a request, send them, and leave out those that
 * the service refuses for good.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/deliver.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/os/log.h"
#include "proto/service/interrupt.h"

bool
json_batch_add(struct json_batch *batch, struct text item)
{
	static const char between[] = ",\n";

	if (batch->items > 0 && (batch->items >= batch->items_max ||
				    batch->body.bytes + strlen(between) +
					    item.bytes + batch->ends.bytes >
					batch->bytes_max))
		return false;
	buffer_put_text(&batch->body,
	    batch->items++ == 0 ? batch->begins : text_of(between));
	buffer_put_text(&batch->body, item);
	return true;
}

struct text
json_batch_body(struct json_batch *batch)
{
	size_t bytes = batch->body.bytes;
	struct text all;

	buffer_put_text(&batch->body, batch->ends);
	all = buffer_text(&batch->body);
	batch->body.bytes = bytes;
	return all;
}

void
json_batch_begin(struct json_batch *batch)
{
	batch->body.bytes = 0;
	batch->items = 0;
}

void
json_batch_clear(struct json_batch *batch)
{
	buffer_clear(&batch->body);
	json_batch_begin(batch);
}

/* The first refused items are named, then one a minute. */
enum { NAMED_MAX = 10, SHOWN_BYTES = 480 };

static void
leave_out(const struct deliver *deliver, struct deliver_state *state,
    uint32_t item, const struct err *why)
{
	char shown[SHOWN_BYTES];

	state->left_out++;
	if (!log_is_due(&state->logged_ns) && state->left_out > NAMED_MAX)
		return;
	log_warn("%s; left out for good, the others are sent: %s "
		 "left_out=%" PRIu64,
	    why->text,
	    text_quote(shown, sizeof(shown), deliver->show(deliver->arg, item)),
	    state->left_out);
}

/* Is it the content that the service refuses?  Asked for each item: a service
 * that has stored others may refuse everything now. */
static bool
is_content(const struct deliver *deliver, const struct err *why)
{
	struct err other = { 0 };
	enum deliver_result result = deliver->send(deliver->arg, 0, 0, &other);

	return result == DELIVER_STORED ||
	       (deliver->words_tell && result == DELIVER_REFUSED &&
		   strcmp(why->text, other.text) != 0);
}

static int
send(const struct deliver *deliver, struct deliver_state *state, uint32_t from,
    uint32_t upto, uint32_t *left_out, struct err *err)
{
	uint32_t middle = from + (upto - from) / 2;
	enum deliver_result result;

	if (interrupt_is_pending() && *left_out > 0)
		return err_set_code(err, ERR_INTERRUPTED, "interrupted");
	err_clear(err);
	result = deliver->send(deliver->arg, from, upto, err);
	if (result == DELIVER_STORED)
		return 0;
	if (result == DELIVER_FAILED)
		return -1;
	if (upto - from == 1) {
		if (!is_content(deliver, err))
			return -1;
		leave_out(deliver, state, from, err);
		err_clear(err);
		++*left_out;
		return 0;
	}
	return send(deliver, state, from, middle, left_out, err) != 0
		   ? -1
		   : send(deliver, state, middle, upto, left_out, err);
}

int
deliver(const struct deliver *deliver, struct deliver_state *state,
    uint32_t items, uint32_t *left_out, struct err *err)
{
	*left_out = 0;
	return send(deliver, state, 0, items, left_out, err);
}

/* ---- lines ---- */

void
deliver_lines_init(struct deliver_lines *lines, struct text body)
{
	const char *at = body.at, *end = body.at + body.bytes;
	uint32_t room = 0;

	*lines = (struct deliver_lines){ .body = body };
	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));

		at = newline != NULL ? newline + 1 : end;
		*MEMORY_ADD(lines->ends, room, lines->count) =
		    (uint32_t)(at - body.at);
	}
}

void
deliver_lines_clear(struct deliver_lines *lines)
{
	free(lines->ends);
	*lines = (struct deliver_lines){ .count = 0 };
}

struct text
deliver_lines_part(
    const struct deliver_lines *lines, uint32_t from, uint32_t upto)
{
	uint32_t begin = from > 0 ? lines->ends[from - 1] : 0;
	uint32_t end = upto > from ? lines->ends[upto - 1] : begin;

	return (struct text){ lines->body.at + begin, end - begin };
}

/* ---- answers ---- */

enum deliver_result
deliver_judge(const struct http *http, const struct http_answer *answer,
    bool confirmed, struct err *err)
{
	if (confirmed || http_is_dry(http))
		return DELIVER_STORED;
	if (answer->status < 300) {
		http_unconfirmed(http, answer, err);
		return DELIVER_FAILED;
	}
	http_refused(http, answer, err);
	/* Other statuses are about the address or who asks. */
	return answer->status == 400 || answer->status == 413 ||
		       answer->status == 422
		   ? DELIVER_REFUSED
		   : DELIVER_FAILED;
}
