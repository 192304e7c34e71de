/*
 * handshake - of what a peer says first, the same goes to libzmq however it is
 * cut, and nothing in which libzmq would find a name or an older protocol.
 *
 * The first byte says where to cut.  The second reader here is written from
 * ZeroMQ RFC 23; unlike the first it has all bytes at once.
 * SPDX-License-Identifier: MIT
 */
#include "proto/net/guard/handshake.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

enum { FD = 7, GREETING_BYTES = 64, AT_MECHANISM = 12, MECHANISM_BYTES = 20 };
static const char name[] = "\x08Identity";
enum { NAME_BYTES = sizeof(name) - 1 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct frame {
	const uint8_t *at;
	size_t bytes;
	bool whole;
};

/* The first frame after a greeting. */
static struct frame
first_frame(const uint8_t *at, size_t bytes)
{
	size_t head = bytes > 0 && (at[0] & 2) != 0 ? 9 : 2;
	struct frame frame = { .at = at };
	uint64_t size = 0;

	if (bytes <= head)
		return frame;
	for (size_t i = 1; i < head; i++)
		size = size << 8 | at[i];
	frame.at = at + head;
	frame.whole = size <= bytes - head;
	frame.bytes = frame.whole ? (size_t)size : bytes - head;
	return frame;
}

/* A list of properties: length and name, length and value. */
static bool
names_itself(const uint8_t *at, size_t bytes)
{
	const uint8_t *end = at + bytes;

	while (at < end && (size_t)(end - at) >= at[0] + 5u) {
		const uint8_t *size_at = at + 1 + at[0];
		uint32_t size = (uint32_t)size_at[0] << 24 |
				(uint32_t)size_at[1] << 16 |
				(uint32_t)size_at[2] << 8 | size_at[3];

		if (size > (size_t)(end - size_at - 4))
			return false;
		if (size > 0 && at[0] == NAME_BYTES - 1 &&
		    memcmp(at, name, NAME_BYTES) == 0)
			return true;
		at = size_at + 4 + size;
	}
	return false;
}

static bool
has_word(const uint8_t *at, size_t bytes)
{
	return memmem(at, bytes, name, NAME_BYTES) != NULL;
}

static bool
is_zmtp_3(const uint8_t *at, size_t bytes)
{
	return (bytes < 1 || at[0] == 0xff) &&
	       (bytes < 10 || (at[9] & 1) != 0) && (bytes < 11 || at[10] >= 3);
}

static void
judge(const uint8_t *at, size_t bytes, bool allowed)
{
	static const uint8_t null[MECHANISM_BYTES] = "NULL";
	static const char ready[] = "\5READY";
	struct frame frame;

	if (!is_zmtp_3(at, bytes)) {
		assert(!allowed);
		return;
	}
	if (bytes <= GREETING_BYTES ||
	    memcmp(at + AT_MECHANISM, null, sizeof(null)) != 0) {
		assert(allowed || bytes > GREETING_BYTES);
		return;
	}
	frame = first_frame(at + GREETING_BYTES, bytes - GREETING_BYTES);
	if (!has_word(frame.at, frame.bytes))
		assert(allowed);
	if (frame.whole && frame.bytes >= sizeof(ready) - 1 &&
	    memcmp(frame.at, ready, sizeof(ready) - 1) == 0 &&
	    names_itself(frame.at + sizeof(ready) - 1,
		frame.bytes - (sizeof(ready) - 1)))
		assert(!allowed);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t cut;
	bool whole, in_two;

	if (size == 0)
		return 0;
	cut = data[0] < size ? data[0] : size - 1;
	data++;
	size--;
	handshake_begin(FD);
	whole = handshake_allows(FD, data, size);
	handshake_begin(FD);
	in_two = handshake_allows(FD, data, cut) &&
		 handshake_allows(FD, data + cut, size - cut);
	handshake_forget(FD);
	assert(whole == in_two);
	judge(data, size, whole);
	/* What a peer with a key hides is a list of properties. */
	if (names_itself(data, size))
		assert(handshake_has_name(data, size));
	if (!has_word(data, size))
		assert(!handshake_has_name(data, size));
	return 0;
}
