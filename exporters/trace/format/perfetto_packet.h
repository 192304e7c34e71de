/*
 * perfetto_packet - packets of a Perfetto trace, and the texts interned in
 * them.
 *
 * Packets are compressed some hundred KiB at a time.  A text is said once, in
 * the packet that first has it, and has a number from then on; what was said is
 * forgotten and begun anew after a while, so that it has an end.
 *
 * The numbers are those of perfetto's trace.proto, trace_packet.proto and
 * interned_data.proto.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_TRACE_FORMAT_PERFETTO_PACKET_H
#define EXPORTERS_TRACE_FORMAT_PERFETTO_PACKET_H

#include <stdbool.h>

#include "exporters/trace/format/protobuf.h"
#include "proto/base/string_table.h"
#include "proto/format/byte_stream.h"
#include "proto/format/compress_block.h"

enum { TRACE_PACKET = 1 };
enum {
	PACKET_CHROME_EVENTS = 5,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_COMPRESSED = 50,
	PACKET_TRACK_DESCRIPTOR = 60,
};
enum { PACKET_STATE_CLEARED = 1, PACKET_NEEDS_STATE = 2 }; /* flags */
enum packet_text { PACKET_CATEGORY = 1, PACKET_NAME = 2, PACKET_KEY = 3 };

enum {
	PACKET_BLOCK_BYTES = 256 << 10, /* that are compressed at once */
	PACKET_LAST_TEXTS = 256,
	PACKET_SEQUENCE = 1, /* there is one */
};

/* The same few texts come again and again: what was found last, by what is
 * cheap to see of a text. */
struct packet_texts {
	struct intern texts; /* number + 1 is the iid */
	struct {
		struct text text;
		uint64_t iid;
	} last[PACKET_LAST_TEXTS];
};

struct trace_packets {
	struct stream *stream;
	struct pb block; /* packets that are not written yet */
	struct pb fresh; /* what the packet at hand interns */
	struct pack_block *packer;
	uint64_t bytes; /* written, before compression */
	struct packet_texts texts[PACKET_KEY + 1]; /* by enum packet_text */
	bool cleared; /* the next packet says that nothing is interned */
};

void trace_packets_init(struct trace_packets *packets, struct stream *stream);
/* Writes what is left. */
void trace_packets_clear(struct trace_packets *packets);

/* Bytes so far, before compression. */
uint64_t trace_packets_bytes(const struct trace_packets *packets);

/* Compress and write the block. */
void trace_packets_write(struct trace_packets *packets);

/* What is between begin and end goes to `block`.  Returns what end wants. */
static inline size_t
trace_packet_begin(struct trace_packets *packets)
{
	if (packets->block.used >= PACKET_BLOCK_BYTES)
		trace_packets_write(packets);
	return pb_begin(&packets->block, TRACE_PACKET);
}

/* The sequence, and the flags of what is interned in it. */
static inline void
trace_packet_end(struct trace_packets *packets, size_t packet, unsigned flags)
{
	struct pb *b = &packets->block;

	if (packets->fresh.used > 0) {
		pb_text(b, PACKET_INTERNED_DATA,
		    (struct text){ (const char *)packets->fresh.at,
			(uint32_t)packets->fresh.used });
		packets->fresh.used = 0;
	}
	pb_uint(b, PACKET_SEQUENCE_ID, PACKET_SEQUENCE);
	if (packets->cleared)
		flags |= PACKET_STATE_CLEARED;
	if (flags != 0)
		pb_uint(b, PACKET_SEQUENCE_FLAGS, flags);
	packets->cleared = false;
	pb_end(b, packet);
}

/* Before a packet that interns texts: make room for what one may intern. */
void trace_packets_make_room(struct trace_packets *packets);

static inline unsigned
packet_place(struct text text)
{
	const unsigned char *at = (const unsigned char *)text.at;

	if (text.bytes == 0)
		return 0;
	return (text.bytes + 7u * at[0] + 31u * at[text.bytes / 2] +
		   127u * at[text.bytes - 1]) %
	       PACKET_LAST_TEXTS;
}

/* The number of a text; the packet at hand says it when it is new. */
uint64_t trace_packet_look_up(struct trace_packets *packets,
    enum packet_text kind, struct text text, unsigned place);
static inline uint64_t
trace_packet_intern(
    struct trace_packets *packets, enum packet_text kind, struct text text)
{
	const struct packet_texts *table = &packets->texts[kind];
	unsigned place = packet_place(text);

	if (table->last[place].iid != 0 &&
	    text_equal(table->last[place].text, text))
		return table->last[place].iid;
	return trace_packet_look_up(packets, kind, text, place);
}

#endif
