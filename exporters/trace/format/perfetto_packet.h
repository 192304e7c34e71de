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
#include "proto/hash/string_table.h"
#include "proto/format/byte_stream.h"
#include "proto/format/compress_block.h"

enum { PERFETTO_PACKET = 1 };
enum {
	PERFETTO_PACKET_CHROME_EVENTS = 5,
	PERFETTO_PACKET_CLOCK_SNAPSHOT = 6,
	PERFETTO_PACKET_TIMESTAMP = 8,
	PERFETTO_PACKET_SEQUENCE_ID = 10,
	PERFETTO_PACKET_TRACK_EVENT = 11,
	PERFETTO_PACKET_INTERNED_DATA = 12,
	PERFETTO_PACKET_SEQUENCE_FLAGS = 13,
	PERFETTO_PACKET_COMPRESSED = 50,
	PERFETTO_PACKET_TRACK_DESCRIPTOR = 60,
};
enum {
	PERFETTO_PACKET_STATE_CLEARED = 1,
	PERFETTO_PACKET_NEEDS_STATE = 2
}; /* flags */
enum perfetto_packet_text {
	PERFETTO_PACKET_CATEGORY = 1,
	PERFETTO_PACKET_NAME = 2,
	PERFETTO_PACKET_KEY = 3
};

enum {
	PERFETTO_PACKET_BLOCK_BYTES = 256
				      << 10, /* that are compressed at once */
	PERFETTO_PACKET_LAST_TEXTS = 256,
	PERFETTO_PACKET_SEQUENCE = 1, /* there is one */
};

/* The same few texts come again and again: what was found last, by what is
 * cheap to see of a text. */
struct perfetto_packet_texts {
	struct string_table texts; /* number + 1 is the iid */
	struct {
		struct text text;
		uint64_t iid;
	} last[PERFETTO_PACKET_LAST_TEXTS];
};

struct perfetto_packets {
	struct byte_stream *byte_stream;
	struct buffer block; /* packets that are not written yet */
	struct buffer fresh; /* what the packet at hand interns */
	struct compress_block *packer;
	uint64_t bytes; /* written, before compression */
	struct perfetto_packet_texts
	    texts[PERFETTO_PACKET_KEY + 1]; /* by enum perfetto_packet_text */
	bool cleared; /* the next packet says that nothing is interned */
};

void perfetto_packets_init(
    struct perfetto_packets *packets, struct byte_stream *byte_stream);
/* Writes what is left. */
void perfetto_packets_clear(struct perfetto_packets *packets);

/* Bytes so far, before compression. */
uint64_t perfetto_packets_bytes(const struct perfetto_packets *packets);

/* Compress and write the block. */
void perfetto_packets_write(struct perfetto_packets *packets);

/* What is between begin and end goes to `block`.  Returns what end wants. */
static inline size_t
perfetto_packet_begin(struct perfetto_packets *packets)
{
	if (packets->block.bytes >= PERFETTO_PACKET_BLOCK_BYTES)
		perfetto_packets_write(packets);
	return protobuf_begin(&packets->block, PERFETTO_PACKET);
}

/* The sequence, and the flags of what is interned in it. */
static inline void
perfetto_packet_end(
    struct perfetto_packets *packets, size_t packet, unsigned flags)
{
	struct buffer *b = &packets->block;

	if (packets->fresh.bytes > 0) {
		protobuf_text(b, PERFETTO_PACKET_INTERNED_DATA,
		    (struct text){ (const char *)packets->fresh.at,
			(uint32_t)packets->fresh.bytes });
		packets->fresh.bytes = 0;
	}
	protobuf_uint(b, PERFETTO_PACKET_SEQUENCE_ID, PERFETTO_PACKET_SEQUENCE);
	if (packets->cleared)
		flags |= PERFETTO_PACKET_STATE_CLEARED;
	if (flags != 0)
		protobuf_uint(b, PERFETTO_PACKET_SEQUENCE_FLAGS, flags);
	packets->cleared = false;
	protobuf_end(b, packet);
}

/* Before a packet that interns texts: make room for what one may intern. */
void perfetto_packets_make_room(struct perfetto_packets *packets);

static inline unsigned
perfetto_packet_place(struct text text)
{
	const unsigned char *at = (const unsigned char *)text.at;

	if (text.bytes == 0)
		return 0;
	return (text.bytes + 7u * at[0] + 31u * at[text.bytes / 2] +
		   127u * at[text.bytes - 1]) %
	       PERFETTO_PACKET_LAST_TEXTS;
}

/* The number of a text; the packet at hand says it when it is new. */
uint64_t perfetto_packet_look_up(struct perfetto_packets *packets,
    enum perfetto_packet_text kind, struct text text, unsigned place);
static inline uint64_t
perfetto_packet_intern(struct perfetto_packets *packets,
    enum perfetto_packet_text kind, struct text text)
{
	const struct perfetto_packet_texts *table = &packets->texts[kind];
	unsigned place = perfetto_packet_place(text);

	if (table->last[place].iid != 0 &&
	    text_equal(table->last[place].text, text))
		return table->last[place].iid;
	return perfetto_packet_look_up(packets, kind, text, place);
}

#endif
