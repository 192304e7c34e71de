/*
 * Tests of proto/net/guard/handshake.h: what a peer may say first.
 * SPDX-License-Identifier: MIT
 */
#include "proto/net/guard/handshake.h"

#include <string.h>

#include "tests/unit/check.h"

enum { FD = 7, GREETING_BYTES = 64, ROOM = 512 };

struct speech {
	unsigned char at[ROOM];
	size_t bytes;
};

static void
add(struct speech *speech, const void *at, size_t bytes)
{
	assert_true(speech->bytes + bytes <= ROOM);
	memcpy(speech->at + speech->bytes, at, bytes);
	speech->bytes += bytes;
}

#define ADD(speech, text) add(speech, text, sizeof(text) - 1)

/* ZeroMQ RFC 23: signature, version, mechanism of 20 bytes, as-server, filler.
 */
static struct speech
greeting(const char *mechanism)
{
	struct speech speech = { .bytes = 0 };

	ADD(&speech, "\xff\0\0\0\0\0\0\0\0\x7f\x03\x01");
	add(&speech, mechanism, strlen(mechanism));
	speech.bytes = GREETING_BYTES;
	return speech;
}

static struct speech
ready(const void *properties, size_t bytes)
{
	struct speech speech = greeting("NULL");
	unsigned char size = (unsigned char)(6 + bytes);

	ADD(&speech, "\x04");
	add(&speech, &size, 1);
	ADD(&speech, "\x05READY");
	add(&speech, properties, bytes);
	return speech;
}

/* Whole, and byte by byte. */
static bool
allows(const struct speech *speech)
{
	bool whole, single = true;

	handshake_begin(FD);
	whole = handshake_allows(FD, speech->at, speech->bytes);
	handshake_begin(FD);
	for (size_t i = 0; i < speech->bytes && single; i++)
		single = handshake_allows(FD, speech->at + i, 1);
	handshake_forget(FD);
	assert_int_equal(whole, single);
	return whole;
}

static void
a_peer_without_a_name_may_speak(void **state)
{
	static const char properties[] = "\x0bSocket-Type\0\0\0\x06"
					 "DEALER\x08Identity\0\0\0\0";
	struct speech speech = ready(properties, sizeof(properties) - 1);

	assert_true(allows(&speech));
	/* Afterwards it may say what it wants. */
	ADD(&speech, "\0\x10\x08Identity\0\0\0\x04name");
	assert_true(allows(&speech));
}

static void
a_peer_with_a_name_may_not(void **state)
{
	static const char first[] = "\x08Identity\0\0\0\x01x";
	static const char second[] = "\x0bSocket-Type\0\0\0\x06"
				     "DEALER\x08Identity\0\0\0\x05\0\0\0\0\1";
	static const char twice[] =
	    "\x08Identity\0\0\0\0\x08Identity\0\0\0\x01x";
	/* A value that looks like the beginning of the name. */
	static const char decoy[] = "\1a\0\0\0\x04\x08Ide\x08Identity\0\1\0\0";
	struct speech speech = ready(first, sizeof(first) - 1);

	assert_false(allows(&speech));
	speech = ready(second, sizeof(second) - 1);
	assert_false(allows(&speech));
	speech = ready(twice, sizeof(twice) - 1);
	assert_false(allows(&speech));
	speech = ready(decoy, sizeof(decoy) - 1);
	assert_false(allows(&speech));
	/* In a frame with a long size. */
	speech = greeting("NULL");
	ADD(&speech, "\x06\0\0\0\0\0\0\0\x14\x05READY");
	ADD(&speech, "\x08Identity\0\0\0\x01x");
	assert_false(allows(&speech));
	assert_true(handshake_has_name(
	    (const unsigned char *)second, sizeof(second) - 1));
	assert_false(handshake_has_name((const unsigned char *)twice, 13));
}

static void
older_protocols_may_not(void **state)
{
	struct speech speech = greeting("NULL");

	speech.at[10] = 1; /* ZMTP 2.0 */
	assert_false(allows(&speech));
	speech.at[10] = 3;
	speech.at[9] = 0; /* ZMTP 1.0: a message */
	assert_false(allows(&speech));
	speech.at[9] = 0x7f;
	speech.at[0] = 5;
	assert_false(allows(&speech));
}

static void
what_a_key_hides_is_not_looked_at(void **state)
{
	struct speech speech = greeting("CURVE");

	ADD(&speech, "\x04\x14\x05READY\x08Identity\0\0\0\x01x");
	assert_true(allows(&speech));
	/* Another mechanism that begins like it, which libzmq refuses. */
	speech = greeting("NULLIFY");
	assert_true(allows(&speech));
}

static void
connections_of_our_own_may(void **state)
{
	assert_true(handshake_allows(FD, (const unsigned char *)"\5name", 5));
}

static void
a_file_that_was_closed_is_no_peer(void **state)
{
	static const char properties[] = "\x08Identity\0\0\0\x04name";
	struct speech speech = ready(properties, sizeof(properties) - 1);

	assert_false(allows(&speech));
	/* Its number is that of a file that nobody has accepted. */
	handshake_begin(FD);
	handshake_forget(FD);
	assert_true(handshake_allows(FD, speech.at, speech.bytes));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_that_was_closed_is_no_peer),
		cmocka_unit_test(a_peer_without_a_name_may_speak),
		cmocka_unit_test(a_peer_with_a_name_may_not),
		cmocka_unit_test(older_protocols_may_not),
		cmocka_unit_test(what_a_key_hides_is_not_looked_at),
		cmocka_unit_test(connections_of_our_own_may),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
