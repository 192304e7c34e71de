/*
 * decode_frame - print one frame: its header and its body.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <string.h>

#include "proto/decode/decode.h"
#include "proto/decode/record_json.h"
#include "proto/os/clock.h"

/* The output of one frame: text has a line per field, JSON a member. */
struct printer {
	FILE *file;
	bool as_json;
	struct json json;
};

/* ---- fields ---- */

static void
put_uint(struct printer *p, const char *name, uint64_t value)
{
	if (p->as_json) {
		json_add_uint(&p->json, name, value);
	} else {
		fprintf(p->file, "  %-16s %" PRIu64 "\n", name, value);
	}
}

/* A field that the type does not use is zero, and is omitted. */
static void
put_used(struct printer *p, const char *name, uint64_t value)
{
	if (value != 0)
		put_uint(p, name, value);
}

static void
put_text(struct printer *p, const char *name, struct text value)
{
	char quoted[4 * (2 * NAME_BYTES_MAX + 2)];

	if (value.bytes == 0)
		return;
	if (p->as_json) {
		json_add_text(&p->json, name, value);
	} else {
		fprintf(p->file, "  %-16s %s\n", name,
		    text_quote(quoted, sizeof(quoted), value));
	}
}

static void
put_hash(struct printer *p, const char *name, uint64_t value)
{
	char hex[17];

	if (value == 0)
		return;
	snprintf(hex, sizeof(hex), "%016" PRIx64, value);
	put_text(p, name, text_of(hex));
}

static void
put_bytes(struct printer *p, const char *name, struct text value)
{
	if (value.bytes == 0)
		return;
	if (p->as_json) {
		json_name(&p->json, name);
		json_hex(&p->json, value);
		return;
	}
	fprintf(p->file, "  %-16s ", name);
	for (uint32_t i = 0; i < value.bytes; i++)
		fprintf(p->file, "%02x", (unsigned char)value.at[i]);
	fputc('\n', p->file);
}

/* JSON has nanoseconds, text a date. */
static void
put_time(struct printer *p, const char *name, int64_t ns)
{
	char text[CLOCK_TEXT_BYTES];

	if (ns == 0)
		return;
	if (p->as_json) {
		json_add_int(&p->json, name, ns);
	} else {
		fprintf(p->file, "  %-16s %s\n", name,
		    clock_text(text, ns, RECORD_JSON_DECIMALS));
	}
}

static void
put_flags(struct printer *p, uint16_t flags)
{
	/* Each bit has a name. */
	static const struct {
		uint16_t bit;
		const char *name;
	} names[] = { { WIRE_FLAG_WAIT, "wait" }, { WIRE_FLAG_LAST, "last" },
		{ WIRE_FLAG_STORED, "stored" },
		{ WIRE_FLAG_REJECTED, "rejected" },
		{ WIRE_FLAG_BY_NODE, "by-node" }, { WIRE_FLAG_PLAIN, "plain" },
		{ WIRE_FLAG_DERIVED, "derived" }, { WIRE_FLAG_ALONE, "alone" },
		{ WIRE_FLAG_INCOMPLETE, "incomplete" },
		{ WIRE_FLAG_ONCE, "once" }, { WIRE_FLAG_IMPORTED, "imported" },
		{ WIRE_FLAG_UNPAIRED, "unpaired" },
		{ WIRE_FLAG_NEWEST, "newest" }, { WIRE_FLAG_OPEN, "open" },
		{ WIRE_FLAG_TAKEN, "taken" },
		{ WIRE_FLAG_DROPPED, "dropped" } };
	char text[160];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if ((flags & names[i].bit) != 0)
			used +=
			    (size_t)snprintf(text + used, sizeof(text) - used,
				"%s%s", used > 0 ? " " : "", names[i].name);
	put_text(p, "flags", text_of(text));
}

static void
put_codec(struct printer *p, uint32_t codec)
{
	if (codec == WIRE_ZSTD)
		put_text(p, "codec", text_of("zstd"));
	else
		put_used(p, "codec", codec);
}

static void
put_reason(struct printer *p, uint32_t reason)
{
	if (reason > 0)
		put_text(p, "reason",
		    text_of(wire_reason_name(reason < WIRE_REASONS
						 ? (enum wire_reason)reason
						 : WIRE_REASONS)));
}

static void
put_header(struct printer *p, const struct wire_header *h)
{
	char session[33];

	put_flags(p, h->flags);
	put_text(p, "partition", h->partition);
	put_text(p, "node", h->node);
	if (session_is_known(&h->session))
		put_text(
		    p, "session", text_of(session_text(session, &h->session)));
	put_used(p, "seq", h->seq);
	put_used(p, "last_seq", h->last_seq);
	put_used(p, "expect", h->expect);
	put_reason(p, h->reason);
	put_used(p, "records", h->records);
	put_codec(p, h->codec);
	put_used(p, "body_bytes", h->body_bytes);
	put_hash(p, "chain", h->chain);
	put_hash(p, "chain_after", h->chain_after);
	put_hash(p, "generation", h->generation);
	put_used(p, "credit_bytes", h->credit_bytes);
	put_used(p, "retry_ms", h->retry_ms);
	if (h->detail.bytes > 0)
		put_text(p, "detail", h->detail);
	put_time(p, "sent_ns", h->sent_ns);
	put_time(p, "received_ns", h->received_ns);
	put_time(p, "answered_ns", h->answered_ns);
}

/* ---- bodies ---- */

static void
put_records(
    struct printer *p, const struct wire_header *header, struct text records)
{
	struct wire_cursor cursor;
	struct record record;

	wire_cursor_init(&cursor, header, records);
	if (p->as_json) {
		json_add_array(&p->json, "body");
	}
	while (wire_next(&cursor, &record)) {
		if (p->as_json) {
			record_json_object(
			    &p->json, header->partition, &record, NULL);
			continue;
		}
		fputs("  ", p->file);
		record_json_line(p->file, header->partition, &record, NULL);
	}
	if (p->as_json)
		json_end_array(&p->json);
}

static enum wire_fault
put_query(struct printer *p, struct text body)
{
	struct wire_query query;
	enum wire_fault fault = wire_get_query(body, &query);

	if (fault != WIRE_OK)
		return fault;
	if (p->as_json) {
		json_add_object(&p->json, "query");
	}
	put_uint(p, "kinds", query.kinds);
	put_text(p, "node", query.node);
	put_text(p, "name", query.name);
	if (query.from_ns != TIME_MIN_NS)
		put_time(p, "from_ns", query.from_ns);
	if (query.to_ns != TIME_MAX_NS)
		put_time(p, "to_ns", query.to_ns);
	put_bytes(p, "cursor", query.cursor);
	put_used(p, "page_bytes", query.page_bytes);
	put_used(p, "step_ns", (uint64_t)query.step_ns);
	put_text(p, "columns", query.columns);
	put_used(p, "per_record", query.per_record);
	if (p->as_json)
		json_end_object(&p->json);
	return WIRE_OK;
}

static enum wire_fault
put_body(struct printer *p, const struct wire_header *header, struct text body,
    struct wire_room *room)
{
	struct text plain, cursor;
	enum wire_fault fault;

	switch (header->type) {
	case WIRE_BATCH:
	case WIRE_PUT:
		fault = wire_body(header, body, room, &plain);
		if (fault == WIRE_OK)
			put_records(p, header, plain);
		return fault;
	case WIRE_PAGE:
		fault = wire_page_body(header, body, room, &cursor, &plain);
		if (fault != WIRE_OK)
			return fault;
		put_bytes(p, "cursor", cursor);
		put_records(p, header, plain);
		return WIRE_OK;
	case WIRE_SELECT:
	case WIRE_STATS:
	case WIRE_FOLLOW: return put_query(p, body);
	default: put_bytes(p, "body", body); return WIRE_OK;
	}
}

/* ---- the frame ---- */

enum wire_fault
decode_frame(struct decode *decode, uint64_t offset, struct text frame)
{
	struct printer p = { .file = decode->file, .as_json = decode->as_json };
	struct wire_header header;
	struct text body;
	enum wire_fault fault = wire_open(frame, &header, &body);

	if (p.as_json) {
		json_init(&p.json, p.file, JSON_LINE | JSON_STRICT);
		json_begin_object(&p.json);
		put_uint(&p, "offset", offset);
		put_uint(&p, "bytes", frame.bytes);
		put_text(&p, "type", text_of(wire_type_name(header.type)));
	} else {
		fprintf(p.file, "offset %" PRIu64 ": %s, %" PRIu32 " bytes\n",
		    offset, wire_type_name(header.type), frame.bytes);
	}
	if (fault == WIRE_OK || fault == WIRE_TYPE)
		put_header(&p, &header);
	if (fault == WIRE_OK)
		fault = put_body(&p, &header, body, &decode->room);
	if (fault != WIRE_OK)
		put_text(&p, "error", text_of(wire_fault_name(fault)));
	if (p.as_json) {
		json_end_object(&p.json);
		fputc('\n', p.file);
	}
	return fault;
}
