/*
 * packed - bodies packed by msgpack-c, which knows none of our limits, and the
 * faults they get.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_PROTO_WIRE_PACKED_H
#define TESTS_UNIT_PROTO_WIRE_PACKED_H

#include <msgpack.h>

#include "proto/os/clock.h"
#include "proto/wire/wire.h"
#include "tests/unit/check.h"

/* The body under construction; begin and end are set-up and teardown. */
static msgpack_sbuffer sbuffer;
static msgpack_packer pk;
static char big[RECORD_ENTITY_TEXT_BYTES_MAX + 1];
static const char id[] = "0123456789abcdef";

static inline int
begin(void **state)
{
	(void)state;
	memset(big, 'x', sizeof(big));
	msgpack_sbuffer_init(&sbuffer);
	msgpack_packer_init(&pk, &sbuffer, msgpack_sbuffer_write);
	return 0;
}

static inline int
end(void **state)
{
	(void)state;
	msgpack_sbuffer_destroy(&sbuffer);
	return 0;
}

static inline void
put_str(const char *at, size_t bytes)
{
	msgpack_pack_str(&pk, bytes);
	msgpack_pack_str_body(&pk, at, bytes);
}

static inline void
put_bin(const char *at, size_t bytes)
{
	msgpack_pack_bin(&pk, bytes);
	msgpack_pack_bin_body(&pk, at, bytes);
}

static inline void
put_raw(const char *at, size_t bytes)
{
	msgpack_sbuffer_write(&sbuffer, at, bytes);
}

#define S(literal)   put_str(literal, sizeof(literal) - 1)
#define RAW(literal) put_raw(literal, sizeof(literal) - 1)
#define I(number)    msgpack_pack_int64(&pk, number)
#define U(number)    msgpack_pack_uint64(&pk, number)
#define ARRAY(n)     msgpack_pack_array(&pk, n)
#define MAP(n)       msgpack_pack_map(&pk, n)
#define NIL()        msgpack_pack_nil(&pk)
#define BIN(n)       put_bin(id, n)

/* What the body so far is, taken with `records`; then an empty one. */
static inline enum wire_fault
check_flagged(enum wire_type type, uint16_t flags, uint32_t records)
{
	struct wire_header header = { .type = type,
		.flags = flags,
		.node = text_of("n"),
		.records = records,
		.body_bytes = (uint32_t)sbuffer.size };
	struct text plain, cursor, body;
	enum wire_fault fault;
	/* Of exactly its size, for the sanitizer. */
	char *exact = malloc(sbuffer.size + 1);

	assert_non_null(exact);
	memcpy(exact + 1, sbuffer.data, sbuffer.size);
	body = (struct text){ exact + 1, (uint32_t)sbuffer.size };
	fault = type == WIRE_PAGE
		    ? wire_page_body(&header, body, NULL, &cursor, &plain)
		    : wire_body(&header, body, NULL, &plain);
	free(exact);
	msgpack_sbuffer_clear(&sbuffer);
	return fault;
}

static inline enum wire_fault
check(enum wire_type type, uint32_t records)
{
	return check_flagged(type, 0, records);
}

#define WORDS(fault, want)                                                     \
	assert_string_equal(wire_fault_name(fault), wire_fault_name(want))
#define BATCH(want) WORDS(check(WIRE_BATCH, 1), want)
#define PAGE(want)  WORDS(check(WIRE_PAGE, 1), want)
#define ONCE(want)  WORDS(check_flagged(WIRE_BATCH, WIRE_FLAG_ONCE, 1), want)

static inline void
event_of(int64_t time_ns, uint32_t elements)
{
	ARRAY(elements);
	I(RECORD_EVENT);
	I(time_ns);
	S("s");
	S("n");
}

/* Up to where the one attribute's value is. */
static inline void
attribute(void)
{
	event_of(0, 6);
	MAP(1);
	S("k");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

#endif
