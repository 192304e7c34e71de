/*
 * perfetto_packet - packets of a Perfetto trace, and their interned texts.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/format/perfetto_packet.h"

#include <string.h>

enum { INTERNED_MAX = 16 << 10 }; /* of each kind */
enum { ITEM_IID = 1, ITEM_NAME = 2 };

/* ---- interning ---- */

static void
empty(struct perfetto_packet_texts *table)
{
	string_table_clear(&table->texts);
	memset(table, 0, sizeof(*table));
	string_table_init(&table->texts);
}

static void
forget(struct perfetto_packets *p)
{
	for (int kind = PERFETTO_PACKET_CATEGORY; kind <= PERFETTO_PACKET_KEY;
	     kind++)
		empty(&p->texts[kind]);
	p->cleared = true;
}

void
perfetto_packets_make_room(struct perfetto_packets *p)
{
	for (int kind = PERFETTO_PACKET_CATEGORY; kind <= PERFETTO_PACKET_KEY;
	     kind++)
		if (p->texts[kind].texts.count >= INTERNED_MAX) {
			forget(p);
			return;
		}
}

uint64_t
perfetto_packet_look_up(struct perfetto_packets *p,
    enum perfetto_packet_text kind, struct text text, unsigned slot)
{
	struct perfetto_packet_texts *table = &p->texts[kind];
	uint32_t before = table->texts.count;
	uint32_t number = string_table_add(&table->texts, text);
	size_t item;

	table->last[slot].text = table->texts.names[number];
	table->last[slot].iid = (uint64_t)number + 1;
	if (number < before)
		return (uint64_t)number + 1;
	item = protobuf_begin(&p->fresh, kind);
	protobuf_uint(&p->fresh, ITEM_IID, (uint64_t)number + 1);
	protobuf_text(&p->fresh, ITEM_NAME, text);
	protobuf_end(&p->fresh, item);
	return (uint64_t)number + 1;
}

/* ---- packets ---- */

/* Compress the packets before this one. */
static void
put_packed(struct perfetto_packets *p)
{
	struct text packed = compress_block_take(p->packer);
	struct buffer head = { NULL, 0, 0 };
	size_t packet;

	if (packed.bytes == 0)
		return;
	packet = protobuf_begin(&head, PERFETTO_PACKET);
	protobuf_text(&head, PERFETTO_PACKET_COMPRESSED, packed);
	protobuf_end(&head, packet);
	byte_stream_put(p->byte_stream, head.at, head.bytes);
	buffer_clear(&head);
}

void
perfetto_packets_write(struct perfetto_packets *p)
{
	if (p->block.bytes == 0)
		return;
	put_packed(p);
	compress_block_begin(p->packer, p->block.at, p->block.bytes);
	p->bytes += p->block.bytes;
	p->block.bytes = 0;
}

uint64_t
perfetto_packets_bytes(const struct perfetto_packets *p)
{
	return p->bytes + p->block.bytes;
}

/* ---- the sequence ---- */

void
perfetto_packets_init(
    struct perfetto_packets *p, struct byte_stream *byte_stream)
{
	memset(p, 0, sizeof(*p));
	p->byte_stream = byte_stream;
	p->packer = compress_block_new(COMPRESS_ZLIB);
	forget(p);
}

void
perfetto_packets_clear(struct perfetto_packets *p)
{
	perfetto_packets_write(p);
	put_packed(p);
	compress_block_free(&p->packer);
	buffer_clear(&p->block);
	buffer_clear(&p->fresh);
	for (int kind = PERFETTO_PACKET_CATEGORY; kind <= PERFETTO_PACKET_KEY;
	     kind++)
		string_table_clear(&p->texts[kind].texts);
}
