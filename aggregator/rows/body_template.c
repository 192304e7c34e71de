/*
 * body_template - bodies of records, split into templates and fields.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/rows/body_template.h"

#include <stdlib.h>

#include "proto/base/memory.h"
#include "proto/msgpack/mp.h"

enum { UUID_BYTES = 16 };

void
body_template_body_clear(struct body_template_body *body)
{
	buffer_clear(&body->template);
	buffer_clear(&body->literal);
	free(body->field);
	*body = (struct body_template_body){ .field = NULL };
}

/* ---- writing the template ---- */

static void
end_literal(struct body_template_body *to)
{
	if (to->literal.bytes == 0)
		return;
	varint_put(&to->template, BODY_TEMPLATE_BYTES);
	varint_put_text(&to->template, buffer_text(&to->literal));
	to->literal.bytes = 0;
}

static void
add_literal(struct body_template_body *to, const unsigned char *at,
    const unsigned char *end)
{
	buffer_put(&to->literal, at, (size_t)(end - at));
}

static void
add_field(struct body_template_body *to, enum body_template_step step,
    const unsigned char *at, const unsigned char *end)
{
	end_literal(to);
	varint_put(&to->template, step);
	*MEMORY_ADD(to->field, to->room, to->fields) =
	    (struct text){ (const char *)at, (uint32_t)(end - at) };
}

/* ---- MessagePack ---- */

/* Is the number after the tag too large for the next shorter encoding? */
static bool
is_shortest(const unsigned char *at)
{
	switch (*at) {
	case MP_UINT8: return at[1] > INT8_MAX;
	case MP_UINT16: return mp_load16(at + 1) > UINT8_MAX;
	case MP_UINT32: return mp_load32(at + 1) > UINT16_MAX;
	case MP_UINT64: return mp_load64(at + 1) > UINT32_MAX;
	case MP_INT8: return (int8_t)at[1] < -32;
	case MP_INT16: return (int16_t)mp_load16(at + 1) < INT8_MIN;
	case MP_INT32: return (int32_t)mp_load32(at + 1) < INT16_MIN;
	case MP_INT64: return (int64_t)mp_load64(at + 1) < INT32_MIN;
	case MP_STR8: return at[1] >= 32;
	case MP_STR16: return mp_load16(at + 1) > UINT8_MAX;
	case MP_STR32: return mp_load32(at + 1) > UINT16_MAX;
	case MP_NIL:
	case MP_FALSE:
	case MP_TRUE:
	case MP_FLOAT64: return true;
	default: return false; /* the encoding that we would write */
	}
}

/* Returns what follows the scalar at the front; NULL if there is no scalar. */
static const unsigned char *
end_of_scalar(const unsigned char *at, const unsigned char *end)
{
	static const uint8_t row_blocks[] = { [MP_FLOAT32 - MP_NIL] = 5,
		[MP_FLOAT64 - MP_NIL] = 9,
		[MP_UINT8 - MP_NIL] = 2,
		[MP_UINT16 - MP_NIL] = 3,
		[MP_UINT32 - MP_NIL] = 5,
		[MP_UINT64 - MP_NIL] = 9,
		[MP_INT8 - MP_NIL] = 2,
		[MP_INT16 - MP_NIL] = 3,
		[MP_INT32 - MP_NIL] = 5,
		[MP_INT64 - MP_NIL] = 9,
		[MP_STR8 - MP_NIL] = 2,
		[MP_STR16 - MP_NIL] = 3,
		[MP_STR32 - MP_NIL] = 5,
		[MP_NIL - MP_NIL] = 1,
		[MP_FALSE - MP_NIL] = 1,
		[MP_TRUE - MP_NIL] = 1 };
	size_t left = (size_t)(end - at), bytes;

	if (left == 0)
		return NULL;
	if (*at < MP_FIXMAP || *at >= MP_NEGATIVE)
		return at + 1;
	if ((*at & 0xe0) == MP_FIXSTR) {
		bytes = 1 + (size_t)(*at & 0x1f);
	} else {
		bytes =
		    *at < MP_NIL || (size_t)(*at - MP_NIL) >= sizeof(row_blocks)
			? 0
			: row_blocks[*at - MP_NIL];
		if (bytes == 0 || bytes > left)
			return NULL;
		if (*at >= MP_STR8)
			bytes = (size_t)(mp_skip_scalar(at) - at);
	}
	return bytes <= left ? at + bytes : NULL;
}

static bool
take_value(struct body_template_body *to, struct varint_reader *u)
{
	const unsigned char *at = u->at, *end = end_of_scalar(at, u->end);
	bool short_form;

	if (u->bad || end == NULL)
		return false;
	short_form = *at < MP_FIXMAP || *at >= MP_NEGATIVE ||
		     (*at & 0xe0) == MP_FIXSTR || is_shortest(at);
	add_field(
	    to, short_form ? BODY_TEMPLATE_VALUE : BODY_TEMPLATE_RAW, at, end);
	u->at = end;
	return true;
}

/* ---- parts of bodies ---- */

static bool
is_shortest_varint(uint64_t value, size_t bytes)
{
	unsigned char room[VARINT_BYTES];

	return (size_t)(varint_encode(room, value) - room) == bytes;
}

static void
take_varint(struct body_template_body *to, struct varint_reader *u,
    enum body_template_step step)
{
	const unsigned char *at = u->at;
	uint64_t value = varint_get(u);

	if (is_shortest_varint(value, (size_t)(u->at - at)))
		add_field(to, step, at, u->at);
	else
		add_literal(to, at, u->at);
}

static void
take_name(struct body_template_body *to, struct varint_reader *u, bool loosely)
{
	const unsigned char *at = u->at;
	uint32_t number = varint_get_u32(u);

	if (number == 0)
		varint_get_text(u);
	if (u->bad)
		return;
	if (!loosely)
		add_literal(to, at, u->at);
	else if (number == 0)
		add_field(to, BODY_TEMPLATE_RAW, at, u->at);
	else {
		u->at = at;
		take_varint(to, u, BODY_TEMPLATE_VARINT);
	}
}

static bool
take_attributes(struct body_template_body *to, struct varint_reader *u)
{
	const unsigned char *at = u->at;
	uint64_t count = varint_get(u);

	add_literal(to, at, u->at);
	for (; count > 0 && !u->bad; count--) {
		take_name(to, u, false);
		if (!take_value(to, u))
			return false;
	}
	return !u->bad;
}

static bool
take_event(struct body_template_body *to, struct varint_reader *u, bool loosely)
{
	const unsigned char *at;
	uint64_t uuid;

	take_name(to, u, loosely);
	take_name(to, u, loosely);
	at = u->at;
	uuid = varint_get_max(u, 1);
	add_literal(to, at, u->at);
	at = u->at;
	if (uuid != 0) {
		varint_get_bytes(u, UUID_BYTES);
		if (!u->bad)
			add_field(to, BODY_TEMPLATE_RAW, at, u->at);
	}
	return take_attributes(to, u);
}

static bool
take_phase_event(struct body_template_body *to, struct varint_reader *u)
{
	const unsigned char *at = u->at;
	uint64_t form = varint_get_max(
	    u, BODY_TEMPLATE_PHASE_MEASURED | BODY_TEMPLATE_PHASE_NODE);

	add_literal(to, at, u->at);
	if (form & BODY_TEMPLATE_PHASE_NODE)
		take_varint(to, u, BODY_TEMPLATE_VARINT);
	if (form & BODY_TEMPLATE_PHASE_MEASURED)
		take_varint(to, u, BODY_TEMPLATE_ZIGZAG);
	return take_attributes(to, u);
}

static bool
take_values(struct body_template_body *to, struct varint_reader *u)
{
	const unsigned char *at = u->at;
	uint64_t count = varint_get_max(u, RECORD_VALUES_MAX);

	add_literal(to, at, u->at);
	for (; count > 0; count--)
		if (!take_value(to, u))
			return false;
	return !u->bad;
}

static bool
take(struct body_template_body *to, enum record_kind kind,
    struct varint_reader *u, bool loosely)
{
	switch (kind) {
	case RECORD_EVENT: return take_event(to, u, loosely);
	case RECORD_SAMPLE: return take_values(to, u);
	case RECORD_SPAN:
		take_varint(to, u, BODY_TEMPLATE_ZIGZAG);
		take_name(to, u, loosely);
		take_name(to, u, loosely);
		return take_attributes(to, u);
	case RECORD_GAP:
		take_varint(to, u, BODY_TEMPLATE_ZIGZAG);
		take_name(to, u, loosely);
		take_name(to, u, loosely);
		take_varint(to, u, BODY_TEMPLATE_VARINT);
		return true;
	case RECORD_PHASE: return take_phase_event(to, u);
	default: return false;
	}
}

void
body_template_take_whole(struct body_template_body *to, struct text body)
{
	const unsigned char *at = (const unsigned char *)body.at;

	to->template.bytes = to->literal.bytes = 0;
	add_field(to, BODY_TEMPLATE_RAW, at, at + body.bytes);
}

void
body_template_split(struct body_template_body *to, enum record_kind kind,
    struct text body, bool loosely)
{
	struct varint_reader u = varint_reader_of(body);
	uint32_t before = to->fields;

	to->template.bytes = to->literal.bytes = 0;
	if (take(to, kind, &u, loosely) && !u.bad && u.at == u.end) {
		end_literal(to);
		return;
	}
	to->fields = before;
	body_template_take_whole(to, body);
}
