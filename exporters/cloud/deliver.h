/*
 * deliver - collect the items of a request, send them, and leave out those that
 * the service refuses for good.
 *
 * A refused request is sent again in halves until the refused items are found:
 * they are left out, counted and named in the log, and the others are stored.
 * A service that then also refuses an empty request refuses the request, not
 * its content: that is a failure, and the item is not left out.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_DELIVER_H
#define EXPORTERS_CLOUD_DELIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/buffer.h"
#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/http/http.h"

enum deliver_result {
	DELIVER_STORED,  /* the service has confirmed it */
	DELIVER_REFUSED, /* its content: it will never be stored like this */
	DELIVER_FAILED,  /* for another reason, or there is no answer */
};

struct deliver {
	void *arg;
	/* Send the items from `from` to `upto` - 1; none: an empty request, or
	 * DELIVER_STORED if the service refuses each item by itself. */
	enum deliver_result (*send)(
	    void *arg, uint32_t from, uint32_t upto, struct err *err);
	/* What the log shows of an item: a view. */
	struct text (*show)(void *arg, uint32_t item);
	/* Refusals of one cause have the same words: an empty request that is
	 * refused in others (as one without points) is refused for itself. */
	bool words_tell;
};

/* Of a target, as long as it is open. */
struct deliver_state {
	uint64_t left_out;
	int64_t logged_ns;
};

/* 0: all items are stored, but `left_out` of them, which were refused. */
int deliver(const struct deliver *deliver, struct deliver_state *state,
    uint32_t items, uint32_t *left_out, struct err *err);

/* The lines of a body, which are such items. */
struct deliver_lines {
	struct text body;
	uint32_t *ends; /* of each line, behind its newline */
	uint32_t count;
};

void deliver_lines_init(struct deliver_lines *lines, struct text body);
void deliver_lines_clear(struct deliver_lines *lines);
struct text deliver_lines_part(
    const struct deliver_lines *lines, uint32_t from, uint32_t upto);

/* Judge an answer: does `confirmed` say that the service has stored it, or is
 * it refused?  `err` says how, unless it is stored. */
enum deliver_result deliver_judge(const struct http *http,
    const struct http_answer *answer, bool confirmed, struct err *err);

/*
 * Collect items for one request: a JSON text with a list that grows to the
 * maximum size of a request, a line for each item.
 */

struct json_batch {
	/* Set by the caller; the texts must outlive the batch. */
	struct text begins, ends; /* text before and after the items */
	uint32_t items_max;
	size_t bytes_max; /* maximum bytes of the whole text */

	uint32_t items;
	struct buffer body;
};

/* Add an item.  False: there is no room, send the batch first; a single item
 * always fits. */
bool json_batch_add(struct json_batch *batch, struct text item);
/* The whole text; a view, valid until the next call. */
struct text json_batch_body(struct json_batch *batch);
/* Remove all items; the memory is reused. */
void json_batch_begin(struct json_batch *batch);
void json_batch_clear(struct json_batch *batch);

#endif
