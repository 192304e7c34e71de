/*
 * perfetto_packet - packets of a Perfetto trace, and their interned texts.
 *
 * Packets are compressed in blocks of some hundred KiB.  The first packet that
 * uses a text defines it and gives it a number; later packets use the number.
 * The table of texts is reset from time to time, so that its size is bounded.
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
#include "proto/stream/byte_stream.h"
#include "proto/stream/compress_block.h"

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
	PERFETTO_PACKET_BLOCK_BYTES = 256 << 10, /* size of a block */
	PERFETTO_PACKET_LAST_TEXTS = 256,
	PERFETTO_PACKET_SEQUENCE = 1, /* the only one */
};

/* Cache of recent lookups, indexed by cheap properties of a text: a few texts
 * are used again and again. */
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
	struct buffer fresh; /* texts that the current packet defines */
	struct compress_block *packer;
	uint64_t bytes; /* written, before compression */
	struct perfetto_packet_texts
	    texts[PERFETTO_PACKET_KEY +
		  1]; /* indexed by enum perfetto_packet_text */
	bool cleared; /* the next packet resets the interning state */
};

void perfetto_packets_init(
    struct perfetto_packets *packets, struct byte_stream *byte_stream);
/* Writes the remaining packets. */
void perfetto_packets_clear(struct perfetto_packets *packets);

/* Bytes written so far, before compression. */
uint64_t perfetto_packets_bytes(const struct perfetto_packets *packets);

/* Compress and write the block. */
void perfetto_packets_write(struct perfetto_packets *packets);

/* The caller writes the packet to `block` between begin and end.  Returns the
 * argument for end. */
static inline size_t
perfetto_packet_begin(struct perfetto_packets *packets)
{
	if (packets->block.bytes >= PERFETTO_PACKET_BLOCK_BYTES)
		perfetto_packets_write(packets);
	return protobuf_begin(&packets->block, PERFETTO_PACKET);
}

/* Write the sequence id and the interning flags. */
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

/* Call it before a packet that interns texts: makes room for as many as one
 * packet may define. */
void perfetto_packets_make_room(struct perfetto_packets *packets);

static inline unsigned
perfetto_packet_slot(struct text text)
{
	const unsigned char *at = (const unsigned char *)text.at;

	if (text.bytes == 0)
		return 0;
	return (text.bytes + 7u * at[0] + 31u * at[text.bytes / 2] +
		   127u * at[text.bytes - 1]) %
	       PERFETTO_PACKET_LAST_TEXTS;
}

/* The number of a text; the current packet defines it if it is new. */
uint64_t perfetto_packet_look_up(struct perfetto_packets *packets,
    enum perfetto_packet_text kind, struct text text, unsigned slot);
static inline uint64_t
perfetto_packet_intern(struct perfetto_packets *packets,
    enum perfetto_packet_text kind, struct text text)
{
	const struct perfetto_packet_texts *table = &packets->texts[kind];
	unsigned slot = perfetto_packet_slot(text);

	if (table->last[slot].iid != 0 &&
	    text_equal(table->last[slot].text, text))
		return table->last[slot].iid;
	return perfetto_packet_look_up(packets, kind, text, slot);
}

#endif
