/*
 * retire - say that nodes are no longer part of their pool.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/admin/retire.h"

#include <stdlib.h>

#include "aggregator/admin/admin_private.h"
#include "aggregator/tables/dictionary.h"
#include "proto/hash/string_table.h"
#include "proto/net/loop/loop.h"
#include "proto/net/zsock.h"
#include "proto/os/clock.h"
#include "proto/record/node_list.h"
#include "proto/wire/wire.h"

#define PATIENCE_NS  (10 * NS_PER_SECOND) /* for each answer */
#define ASK_AGAIN_NS (NS_PER_SECOND / 4)  /* who was busy */

struct retiring {
	const struct retire *retire;
	struct string_table nodes;
	uint32_t done;  /* the first ones */
	bool is_unsent; /* there was no connection yet */
	struct loop *loop;
	struct zsock *zsock;
	struct loop_timer again, patience, look;
	struct err *err;
};

/* ---- which nodes ---- */

static bool
list_has(const struct string_table *nodes, struct text item)
{
	for (uint32_t i = 0; i < nodes->count; i++)
		if (node_list_match(item, nodes->names[i]))
			return true;
	return false;
}

/* Every item must be of a node: a typing error retires nobody. */
static int
check_list(const struct retiring *r, struct err *err)
{
	struct text rest = r->retire->nodes, item;
	char shown[300], pool[300], name[NAME_BYTES_MAX];
	struct text one;

	while (node_list_next(&rest, &item)) {
		for (uint32_t i = 0; i < node_list_count(item); i++) {
			uint32_t known;

			one = (struct text){ name,
				node_list_name(item, i, name) };
			if (string_table_find(&r->nodes, one, &known))
				continue;
			return err_set(err,
			    "partition %s has no node %s; nothing was retired "
			    "(poolscope nodes lists them)",
			    text_quote(
				pool, sizeof(pool), r->retire->partition),
			    text_quote(shown, sizeof(shown), one));
		}
		if (node_list_count(item) == 0 && !list_has(&r->nodes, item))
			return err_set(err,
			    "no node of partition %s matches %s; nothing was "
			    "retired (poolscope nodes lists them)",
			    text_quote(
				pool, sizeof(pool), r->retire->partition),
			    text_quote(shown, sizeof(shown), item));
	}
	return 0;
}

static int
find_nodes(struct retiring *r, struct err *err)
{
	struct db_options how = { .read_only = true, .allow_network = true };
	uint32_t partition, number = 0;
	struct db *tables = NULL;
	struct db_txn *txn = NULL;
	char shown[300];
	struct text name;
	int rc = -1;

	if (tables_open(&tables, r->retire->store, &how, err) == 0 &&
	    db_begin(tables, false, &txn, err) == 0) {
		partition = dictionary_find(txn, 0, r->retire->partition);
		for (; partition != 0 &&
		       dictionary_next_node(txn, partition, &number);
		     number++)
			if (dictionary_text(txn, partition, number, &name) &&
			    node_list_match(r->retire->nodes, name))
				string_table_add(&r->nodes, name);
		db_abort(&txn);
		rc = partition != 0
			 ? check_list(r, err)
			 : err_set(err,
			       "%s has no partition %s (poolscope partition "
			       "list)",
			       r->retire->store,
			       text_quote(
				   shown, sizeof(shown), r->retire->partition));
	}
	db_close(&tables);
	return rc;
}

/* ---- saying it ---- */

static void
send_next(struct retiring *r)
{
	static const struct route no_route;
	struct wire_header header = { .type = WIRE_BYE,
		.partition = r->retire->partition,
		.sent_ns = clock_wall_ns() };
	unsigned char frame[WIRE_FIXED_BYTES + WIRE_HEADER_BYTES_MAX];
	size_t bytes;

	if (r->done == r->nodes.count) {
		loop_quit(r->loop, 0);
		return;
	}
	header.node = r->nodes.names[r->done];
	bytes =
	    wire_frame(frame, sizeof(frame), &header, (struct text){ NULL, 0 });
	r->is_unsent = zsock_send(r->zsock, &no_route,
			   (struct text){ (const char *)frame,
			       (uint32_t)bytes }) != ZSOCK_DONE;
	loop_set_timer(
	    r->loop, &r->patience, clock_monotonic_ns() + PATIENCE_NS, 0);
}

static void
on_again(void *arg, struct loop_timer *timer)
{
	(void)timer;
	send_next(arg);
}

static void
on_patience(void *arg, struct loop_timer *timer)
{
	struct retiring *r = arg;

	(void)timer;
	err_set(r->err, "the aggregator does not answer at %s: poolscope up",
	    r->retire->endpoint);
	loop_quit(r->loop, -1);
}

/* It is not started while we wait for it. */
static void
on_look(void *arg, struct loop_timer *timer)
{
	struct retiring *r = arg;
	struct err why = { 0 };

	(void)timer;
	if (!zsock_is_absent(r->zsock, &why))
		return;
	err_set(r->err,
	    "the aggregator must run to retire nodes: %s: %s (poolscope up)",
	    r->retire->endpoint, why.text);
	loop_quit(r->loop, -1);
}

static void
take_answer(struct retiring *r, const struct wire_header *answer)
{
	char shown[300];

	if (!text_equal(answer->node, r->nodes.names[r->done]))
		return;
	if (answer->type == WIRE_ACK) {
		r->done++;
		send_next(r);
	} else if (answer->reason == WIRE_NACK_BUSY) {
		loop_set_timer(
		    r->loop, &r->again, clock_monotonic_ns() + ASK_AGAIN_NS, 0);
	} else {
		err_set(r->err, "the aggregator refuses it (%s): %s",
		    wire_reason_name(answer->reason),
		    text_quote(shown, sizeof(shown), answer->detail));
		loop_quit(r->loop, -1);
	}
}

static void
on_zsock(void *arg, struct zsock *zsock)
{
	struct retiring *r = arg;
	struct zsock_message message;
	struct wire_header answer;

	if (r->is_unsent)
		send_next(r);
	zsock_message_init(&message);
	while (r->done < r->nodes.count &&
	       zsock_recv(zsock, &message) == ZSOCK_DONE)
		if (wire_peek(message.frame, &answer) == WIRE_OK)
			take_answer(r, &answer);
	zsock_message_clear(&message);
}

static int
say(struct retiring *r, struct err *err)
{
	const struct zsock_options how = { .kind = ZSOCK_CONNECTION,
		.queue_messages = 4,
		.frame_bytes_max = WIRE_FRAME_BYTES_MAX };
	int rc = -1;

	r->err = err;
	r->again = (struct loop_timer){ .on_timer = on_again, .arg = r };
	r->patience = (struct loop_timer){ .on_timer = on_patience, .arg = r };
	r->look = (struct loop_timer){ .on_timer = on_look, .arg = r };
	if (loop_new(&r->loop, err) == 0 &&
	    zsock_open(&r->zsock, &how, err) == 0 &&
	    zsock_connect(r->zsock, r->retire->endpoint, err) == 0 &&
	    loop_add_zsock(r->loop, r->zsock, on_zsock, r, err) == 0) {
		loop_set_timer(r->loop, &r->look,
		    clock_monotonic_ns() + ASK_AGAIN_NS, ASK_AGAIN_NS);
		send_next(r);
		rc = loop_run(r->loop);
	}
	zsock_close(&r->zsock);
	loop_free(&r->loop);
	return rc;
}

int
retire_nodes(const struct retire *retire, uint32_t *count, struct err *err)
{
	struct retiring r = { .retire = retire };
	int rc;

	string_table_init(&r.nodes);
	rc = find_nodes(&r, err);
	if (rc == 0)
		rc = say(&r, err);
	*count = r.done;
	string_table_clear(&r.nodes);
	return rc;
}
