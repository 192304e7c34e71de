/*
 * perfetto_packet - packets of a Perfetto trace, and the texts interned in
 * them. SPDX-License-Identifier: MIT
 */
#include "exporters/trace/format/perfetto_packet.h"

#include <string.h>

enum { INTERNED_MAX = 16 << 10 }; /* of a kind */
enum { ITEM_IID = 1, ITEM_NAME = 2 };

/* ---- what is interned ---- */

static void
empty(struct packet_texts *table)
{
	intern_clear(&table->texts);
	memset(table, 0, sizeof(*table));
	intern_init(&table->texts);
}

static void
forget(struct trace_packets *p)
{
	for (int kind = PACKET_CATEGORY; kind <= PACKET_KEY; kind++)
		empty(&p->texts[kind]);
	p->cleared = true;
}

void
trace_packets_make_room(struct trace_packets *p)
{
	for (int kind = PACKET_CATEGORY; kind <= PACKET_KEY; kind++)
		if (p->texts[kind].texts.count >= INTERNED_MAX) {
			forget(p);
			return;
		}
}

uint64_t
trace_packet_look_up(struct trace_packets *p, enum packet_text kind,
    struct text text, unsigned place)
{
	struct packet_texts *table = &p->texts[kind];
	uint32_t before = table->texts.count;
	uint32_t number = intern_add(&table->texts, text);
	size_t item;

	table->last[place].text = table->texts.names[number];
	table->last[place].iid = (uint64_t)number + 1;
	if (number < before)
		return (uint64_t)number + 1;
	item = pb_begin(&p->fresh, kind);
	pb_uint(&p->fresh, ITEM_IID, (uint64_t)number + 1);
	pb_text(&p->fresh, ITEM_NAME, text);
	pb_end(&p->fresh, item);
	return (uint64_t)number + 1;
}

/* ---- packets ---- */

/* What was begun before. */
static void
put_packed(struct trace_packets *p)
{
	struct text packed = pack_block_take(p->packer);
	struct pb head = { NULL, 0, 0 };
	size_t packet;

	if (packed.bytes == 0)
		return;
	packet = pb_begin(&head, TRACE_PACKET);
	pb_text(&head, PACKET_COMPRESSED, packed);
	pb_end(&head, packet);
	stream_put(p->stream, head.at, head.used);
	pb_clear(&head);
}

void
trace_packets_write(struct trace_packets *p)
{
	if (p->block.used == 0)
		return;
	put_packed(p);
	pack_block_begin(p->packer, p->block.at, p->block.used);
	p->bytes += p->block.used;
	p->block.used = 0;
}

uint64_t
trace_packets_bytes(const struct trace_packets *p)
{
	return p->bytes + p->block.used;
}

/* ---- all of them ---- */

void
trace_packets_init(struct trace_packets *p, struct stream *stream)
{
	memset(p, 0, sizeof(*p));
	p->stream = stream;
	p->packer = pack_block_new(PACK_ZLIB);
	forget(p);
}

void
trace_packets_clear(struct trace_packets *p)
{
	trace_packets_write(p);
	put_packed(p);
	pack_block_free(&p->packer);
	pb_clear(&p->block);
	pb_clear(&p->fresh);
	for (int kind = PACKET_CATEGORY; kind <= PACKET_KEY; kind++)
		intern_clear(&p->texts[kind].texts);
}
