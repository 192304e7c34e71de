/*
 * batcher_help - a batcher over a spool in a temporary directory.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_AGENTS_ACCEPT_BATCHER_HELP_H
#define TESTS_UNIT_AGENTS_ACCEPT_BATCHER_HELP_H

#include <unistd.h>

#include "agents/accept/batcher.h"
#include "tests/unit/check.h"

static char dir[64];

struct fixture {
	struct spool *spool;
	struct batcher *batcher;
	struct wire_writer writer;
	unsigned char body[64 << 10];
	struct batcher_outcome outcome; /* of the last ticket settled */
	uint64_t settled;
	uint64_t order; /* `number` of the last ticket; they must rise */
};

static inline void
on_settled(
    const struct batcher_ticket *ticket, const struct batcher_outcome *outcome)
{
	struct fixture *f = ticket->arg;

	assert_true(ticket->number >= f->order);
	f->order = ticket->number;
	f->outcome = *outcome;
	f->settled++;
}

static inline void
open_all(struct fixture *f, uint64_t bytes_max)
{
	struct spool_options options = {
		.bytes_max = bytes_max,
		.segment_bytes = bytes_max / 4,
	};
	struct batcher_options batcher = {
		.partition = text_of("own"),
		.node = text_of("me"),
	};
	struct err err = { 0 };

	if (spool_open(&f->spool, dir, &options, &err) != 0)
		fail_msg("%s", err.text);
	batcher.spool = f->spool;
	batcher_new(&f->batcher, &batcher);
	batcher_load_dedup(f->batcher);
}

static inline void
close_all(struct fixture *f)
{
	batcher_free(&f->batcher);
	spool_close(&f->spool);
}

static inline int
set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(dir, "/tmp/batcher.XXXXXX");
	assert_non_null(mkdtemp(dir));
	open_all(f, 16 << 20);
	*state = f;
	return 0;
}

static inline int
tear_down(void **state)
{
	char command[96];

	close_all(*state);
	free(*state);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

/* ---- a put under construction ---- */

static inline void
begin(struct fixture *f)
{
	wire_writer_init(&f->writer, f->body, sizeof(f->body));
}

static inline bool
add_event(struct fixture *f, const char *name, uint64_t uuid)
{
	uint64_t words[2] = { uuid, 1 };
	struct record record = {
		.kind = RECORD_EVENT,
		.time_ns = 1,
		.source = text_of("test"),
		.name = text_of(name),
	};

	if (uuid != 0)
		record.key = (struct text){ (const char *)words, 16 };
	return wire_put_record(&f->writer, &record);
}

static inline bool
add_sample(struct fixture *f)
{
	unsigned char number = 7;
	struct record record = {
		.kind = RECORD_SAMPLE,
		.time_ns = 1,
		.source = text_of("set"),
		.values = 1,
		.value_bytes = { (const char *)&number, 1 },
	};

	return wire_put_record(&f->writer, &record);
}

/* As a numbered put of this session, unless `session` is 0. */
static inline enum batcher_result
put_numbered(struct fixture *f, const char *partition, const char *node,
    unsigned char session, uint64_t seq)
{
	static uint64_t number;
	struct batcher_ticket ticket = { .on_settled = on_settled, .arg = f };
	struct wire_header header = {
		.type = WIRE_PUT,
		.partition = text_of(partition),
		.node = text_of(node),
		.session = { { session } },
		.seq = seq,
		.records = f->writer.records,
		.body_bytes = (uint32_t)f->writer.bytes,
	};
	struct err err = { 0 };

	ticket.number = ++number;
	return batcher_put(f->batcher, &ticket, &header,
	    (struct text){ (const char *)f->body, (uint32_t)f->writer.bytes },
	    &err);
}

static inline enum batcher_result
put(struct fixture *f, const char *partition, const char *node)
{
	return put_numbered(f, partition, node, 0, 0);
}

static inline enum batcher_result
put_event(struct fixture *f, const char *name, uint64_t uuid)
{
	begin(f);
	assert_true(add_event(f, name, uuid));
	return put(f, "", "");
}

static inline enum batcher_result
commit(struct fixture *f)
{
	struct err err = { 0 };

	return batcher_commit(f->batcher, &err);
}

/* Give each record of a stream to `take`. */
static inline void
read_stream(struct fixture *f, uint32_t stream,
    void (*take)(void *arg, const struct record *record), void *arg)
{
	uint64_t next = spool_next_seq(f->spool, stream);
	struct wire_room room = { 0 };
	struct spool_batch batch;
	struct err err;

	for (uint64_t seq = 1; seq < next; seq++) {
		struct wire_header header = { .type = WIRE_BATCH,
			.node = text_of("me") };
		struct wire_cursor cursor;
		struct record record;
		struct text plain;

		assert_int_equal(
		    spool_read(f->spool, stream, seq, &batch, &err), 1);
		header.records = batch.records;
		header.codec = batch.codec;
		header.body_bytes = batch.body_bytes;
		assert_int_equal(
		    wire_body(&header, batch.body, &room, &plain), WIRE_OK);
		wire_cursor_init(&cursor, &header, plain);
		while (wire_next(&cursor, &record))
			take(arg, &record);
	}
	wire_room_clear(&room);
}

/* The same with all streams of the spool, session after session. */
static inline void
read_all(struct fixture *f,
    void (*take)(void *arg, const struct record *record), void *arg)
{
	for (uint32_t i = 0; i < spool_streams(f->spool); i++)
		if (spool_partition(f->spool, i).bytes > 0)
			read_stream(f, i, take, arg);
}

/* "node/name node/name ..." */
struct names {
	char text[4096];
	size_t used;
};

static inline void
add_name(void *arg, const struct record *record)
{
	struct names *names = arg;

	names->used += (size_t)snprintf(names->text + names->used,
	    sizeof(names->text) - names->used, "%s%.*s/%.*s",
	    names->used ? " " : "", (int)record->node.bytes, record->node.at,
	    (int)record->name.bytes, record->name.at);
}

static inline const char *
content(struct fixture *f, uint32_t stream)
{
	static struct names names;

	names = (struct names){ .used = 0 };
	read_stream(f, stream, add_name, &names);
	return names.text;
}

static inline const char *
content_of_all(struct fixture *f)
{
	static struct names names;

	names = (struct names){ .used = 0 };
	read_all(f, add_name, &names);
	return names.text;
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
