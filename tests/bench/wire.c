/*
 * wire - encoding and decoding of events against msgpack-c's own pack and
 * unpack of the same records, on one core, in turns.
 *
 * Ours: attributes and record into a batch's body; then the check of the body,
 * the reading of every record and the visit of every attribute.  Theirs: the
 * same objects with msgpack_pack into a msgpack_sbuffer that keeps its memory;
 * then msgpack_unpack_next and the same visit of every field.  The limit is
 * a ratio of 2 over both directions.
 * SPDX-License-Identifier: MIT
 */
#include <malloc.h>
#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/os/clock.h"
#include "proto/wire/wire.h"

enum { EVENTS = 600, ROUNDS = 60, REPEATS = 20, BODY_BYTES = 256 << 10 };

struct event {
	int64_t time_ns;
	struct text name, img, message;
	int64_t bytes; /* < 0: this event has none */
};

static struct event events[EVENTS];
static char texts[EVENTS][64];
static uint64_t sink; /* what was read, so that it is */

/* What Batch Shipyard's recorder says while a pool gets its images. */
static void
make_events(void)
{
	static const char *const names[] = { "pull-start", "pull-end",
		"load-start", "load-end", "save-start", "save-end" };
	int64_t time_ns = INT64_C(1508000063695798000);

	for (int i = 0; i < EVENTS; i++) {
		snprintf(texts[i], sizeof(texts[i]), "diff=%d.%06d", i % 97,
		    i * 7919 % 1000000);
		time_ns += INT64_C(1000003) * (i % 1000);
		events[i] = (struct event){ time_ns, text_of(names[i % 6]),
			text_of(i % 2 ? "alfpark/caffe:cpu"
				      : "mcr.microsoft.com/azure-cli:2.0.58"),
			text_of(texts[i]),
			i % 6 == 1 ? INT64_C(187800000) + i : -1 };
	}
}

/* ---- ours ---- */

static struct text
encode(unsigned char *body)
{
	struct wire_writer w, pairs;
	unsigned char buffer[512];
	struct value bytes = { .type = VALUE_INT };
	struct record record = { .kind = RECORD_EVENT,
		.source = text_of("cascade") };

	wire_writer_init(&w, body, BODY_BYTES);
	for (int i = 0; i < EVENTS; i++) {
		const struct event *e = &events[i];

		wire_writer_init(&pairs, buffer, sizeof(buffer));
		wire_put_text_attribute(&pairs, text_of("img"), e->img);
		wire_put_text_attribute(&pairs, text_of("message"), e->message);
		if (e->bytes >= 0) {
			bytes.is.i = e->bytes;
			wire_put_attribute(&pairs, text_of("size"), &bytes);
		}
		record.time_ns = e->time_ns;
		record.name = e->name;
		record.attributes = e->bytes >= 0 ? 3 : 2;
		record.pairs =
		    (struct text){ (char *)buffer, (uint32_t)pairs.bytes };
		if (!wire_put_record(&w, &record))
			abort();
	}
	return (struct text){ (char *)body, (uint32_t)w.bytes };
}

static void
decode(struct text body)
{
	struct wire_header header = { .type = WIRE_BATCH,
		.node = text_of("tvm-1"),
		.records = EVENTS,
		.body_bytes = body.bytes };
	struct wire_room room = { 0 };
	struct wire_cursor cursor;
	struct record record;
	struct record_attribute attribute;
	struct text plain;

	if (wire_body(&header, body, &room, &plain) != WIRE_OK)
		abort();
	wire_cursor_init(&cursor, &header, plain);
	while (wire_next(&cursor, &record)) {
		struct text rest = record.pairs;

		sink += (uint64_t)record.time_ns + record.source.bytes +
			record.name.bytes;
		while (record_next_attribute(&rest, &attribute)) {
			sink += attribute.key.bytes;
			if (attribute.value.type == VALUE_TEXT)
				sink += attribute.value.is.text.bytes;
			else
				sink += attribute.value.is.u;
		}
	}
}

/* ---- theirs ---- */

static void
pack_text(msgpack_packer *pk, struct text text)
{
	msgpack_pack_str(pk, text.bytes);
	msgpack_pack_str_body(pk, text.at, text.bytes);
}

static void
pack(msgpack_sbuffer *buffer)
{
	msgpack_packer pk;

	msgpack_sbuffer_clear(buffer);
	msgpack_packer_init(&pk, buffer, msgpack_sbuffer_write);
	for (int i = 0; i < EVENTS; i++) {
		const struct event *e = &events[i];

		msgpack_pack_array(&pk, 6);
		msgpack_pack_int(&pk, RECORD_EVENT);
		msgpack_pack_int64(&pk, e->time_ns);
		pack_text(&pk, text_of("cascade"));
		pack_text(&pk, e->name);
		msgpack_pack_map(&pk, e->bytes >= 0 ? 3 : 2);
		pack_text(&pk, text_of("img"));
		pack_text(&pk, e->img);
		pack_text(&pk, text_of("message"));
		pack_text(&pk, e->message);
		if (e->bytes >= 0) {
			pack_text(&pk, text_of("size"));
			msgpack_pack_int64(&pk, e->bytes);
		}
		msgpack_pack_nil(&pk);
	}
}

static void
unpack(const char *at, size_t bytes)
{
	msgpack_unpacked object;
	size_t offset = 0;

	msgpack_unpacked_init(&object);
	while (msgpack_unpack_next(&object, at, bytes, &offset) ==
	       MSGPACK_UNPACK_SUCCESS) {
		const msgpack_object *field = object.data.via.array.ptr;
		const msgpack_object_map *map = &field[4].via.map;

		sink += field[1].via.u64 + field[2].via.str.size +
			field[3].via.str.size;
		for (uint32_t i = 0; i < map->size; i++) {
			const msgpack_object *value = &map->ptr[i].val;

			sink += map->ptr[i].key.via.str.size;
			sink += value->type == MSGPACK_OBJECT_STR
				    ? value->via.str.size
				    : value->via.u64;
		}
	}
	msgpack_unpacked_destroy(&object);
}

/* ---- the figures ---- */

static int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of the rounds, in events a second. */
static double
events_a_second(double ns[ROUNDS])
{
	qsort(ns, ROUNDS, sizeof(ns[0]), compare_doubles);
	return 1e9 * EVENTS * REPEATS / ns[ROUNDS / 2];
}

enum { ENCODE, DECODE, PACK, UNPACK, BOTH, THEIR_BOTH, FIGURES };
static double ns[FIGURES][ROUNDS];

static void
measure(int round, unsigned char *body, msgpack_sbuffer *buffer)
{
	int64_t t[5];
	struct text plain = { 0 };

	t[0] = clock_monotonic_ns();
	for (int i = 0; i < REPEATS; i++)
		plain = encode(body);
	t[1] = clock_monotonic_ns();
	for (int i = 0; i < REPEATS; i++)
		decode(plain);
	t[2] = clock_monotonic_ns();
	for (int i = 0; i < REPEATS; i++)
		pack(buffer);
	t[3] = clock_monotonic_ns();
	for (int i = 0; i < REPEATS; i++)
		unpack(buffer->data, buffer->size);
	t[4] = clock_monotonic_ns();
	if (plain.bytes != buffer->size ||
	    memcmp(plain.at, buffer->data, buffer->size) != 0) {
		fputs("bench: the two do not write the same bytes\n", stderr);
		exit(1);
	}
	for (int i = 0; i < 4; i++)
		ns[i][round] = (double)(t[i + 1] - t[i]);
	ns[BOTH][round] = (double)(t[2] - t[0]);
	ns[THEIR_BOTH][round] = (double)(t[4] - t[2]);
}

static void
print_sizes(struct text body)
{
	unsigned char *to = malloc(body.bytes);
	struct wire_room room = { 0 };
	struct wire_header header = { .type = WIRE_BATCH,
		.codec = WIRE_ZSTD,
		.records = EVENTS,
		.body_bytes = body.bytes };
	int64_t t[3];
	size_t bytes = 0;
	struct text plain;

	if (!to)
		abort();
	t[0] = clock_monotonic_ns();
	for (int i = 0; i < REPEATS; i++)
		bytes = wire_compress(to, body.bytes, body);
	t[1] = clock_monotonic_ns();
	for (int i = 0; i < REPEATS; i++)
		if (wire_body(&header,
			(struct text){ (char *)to, (uint32_t)bytes }, &room,
			&plain) != WIRE_OK)
			abort();
	t[2] = clock_monotonic_ns();
	printf("wire: body of %d events: %u bytes, %.1f an event; zstd %zu "
	       "bytes, %.1f an event\n",
	    EVENTS, body.bytes, (double)body.bytes / EVENTS, bytes,
	    (double)bytes / EVENTS);
	printf("wire: compress %.1f us, decompress and check %.1f us a body\n",
	    (double)(t[1] - t[0]) / REPEATS / 1e3,
	    (double)(t[2] - t[1]) / REPEATS / 1e3);
	wire_room_clear(&room);
	free(to);
}

int
main(void)
{
	unsigned char *body = malloc(BODY_BYTES);
	msgpack_sbuffer buffer;
	double rate[FIGURES], ratio;

	if (!body)
		abort();
	make_events();
	/* An unpack frees its zone each time; never give that back to the
	 * kernel, or msgpack-c is measured at half of what it can do. */
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
	msgpack_sbuffer_init(&buffer);
	for (int round = 0; round < ROUNDS; round++)
		measure(round, body, &buffer);
	for (int i = 0; i < FIGURES; i++)
		rate[i] = events_a_second(ns[i]);
	ratio = rate[BOTH] / rate[THEIR_BOTH];
	printf("wire: encode %.2f M events/s, msgpack-c pack %.2f\n",
	    rate[ENCODE] / 1e6, rate[PACK] / 1e6);
	printf("wire: check + decode %.2f M events/s, msgpack-c unpack %.2f\n",
	    rate[DECODE] / 1e6, rate[UNPACK] / 1e6);
	printf("wire: encode + decode %.2f M events/s, msgpack-c %.2f, ratio "
	       "%.2f (limit 2)\n",
	    rate[BOTH] / 1e6, rate[THEIR_BOTH] / 1e6, ratio);
	print_sizes(encode(body));
	if (sink == 0)
		puts("");
	msgpack_sbuffer_destroy(&buffer);
	free(body);
	return ratio >= 2 ? 0 : 1;
}
