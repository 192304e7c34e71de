/*
 * handshake - what a peer of a listener may say first.
 * SPDX-License-Identifier: MIT
 */
#include "proto/net/guard/handshake.h"

#include <stdatomic.h>
#include <stdint.h>

#include "proto/net/guard/guard.h"

enum {
	GREETING_BYTES = 64,
	AT_SIGNATURE = 9,
	AT_REVISION = 10,
	AT_MECHANISM = 12,
	REVISION = 3,
	LONG_FRAME = 2, /* of the flags */
	LENGTH_BYTES = 4,
};

/* Length and name of the property.  Its first byte is in it once, so a match
 * that fails begins again at this byte or not at all. */
static const char name[] = "\x08Identity";
static const char null[] = "NULL"; /* with its end */
enum { NAME_BYTES = sizeof(name) - 1 };

/* The properties of a peer without a key are in its first frame. */
enum stage { FREE, GREETING, FLAGS, SIZE, PROPERTIES };

struct handshake {
	uint64_t left; /* of the frame */
	/* enum stage.  A number that one thread forgot, another thread may
	 * get from accept: what it wrote before is seen through this. */
	_Atomic uint8_t stage;
	uint8_t at; /* in the greeting, or what is left of the size */
	uint8_t matched;
	bool has_key;
};

static struct handshake handshakes[GUARD_FILES_MAX];

void
handshake_begin(int fd)
{
	struct handshake *handshake = &handshakes[fd];

	(void)atomic_load(&handshake->stage);
	handshake->left = 0;
	handshake->at = handshake->matched = 0;
	handshake->has_key = false;
	atomic_store(&handshake->stage, GREETING);
}

void
handshake_forget(int fd)
{
	atomic_store(&handshakes[fd].stage, FREE);
}

/* Returns false when the property is there and not empty. */
static bool
match(uint8_t *matched, unsigned char byte)
{
	if (*matched >= NAME_BYTES) {
		if (byte != 0)
			return false;
		*matched =
		    (uint8_t)((*matched + 1) % (NAME_BYTES + LENGTH_BYTES));
	} else if (byte == (unsigned char)name[*matched]) {
		(*matched)++;
	} else {
		*matched = byte == (unsigned char)name[0];
	}
	return true;
}

static bool
take_greeting(struct handshake *handshake, unsigned char byte)
{
	uint8_t at = handshake->at++;

	if (at >= AT_MECHANISM && at < AT_MECHANISM + sizeof(null) &&
	    byte != (unsigned char)null[at - AT_MECHANISM])
		handshake->has_key = true;
	if (handshake->at == GREETING_BYTES)
		handshake->stage = handshake->has_key ? FREE : FLAGS;
	return at == 0              ? byte == 0xff
	       : at == AT_SIGNATURE ? (byte & 1) != 0
	       : at == AT_REVISION  ? byte >= REVISION
				    : true;
}

static bool
take(struct handshake *handshake, unsigned char byte)
{
	switch ((enum stage)handshake->stage) {
	case FREE: break;
	case GREETING: return take_greeting(handshake, byte);
	case FLAGS:
		handshake->at =
		    (byte & LONG_FRAME) != 0 ? sizeof(handshake->left) : 1;
		handshake->stage = SIZE;
		break;
	case SIZE:
		handshake->left = handshake->left << 8 | byte;
		if (--handshake->at == 0)
			handshake->stage =
			    handshake->left == 0 ? FREE : PROPERTIES;
		break;
	case PROPERTIES:
		if (--handshake->left == 0)
			handshake->stage = FREE;
		return match(&handshake->matched, byte);
	}
	return true;
}

bool
handshake_allows(int fd, const unsigned char *at, size_t bytes)
{
	struct handshake *handshake;

	if (fd >= GUARD_FILES_MAX)
		return true; /* none of a listener */
	handshake = &handshakes[fd];
	for (size_t i = 0; i < bytes && handshake->stage != FREE; i++)
		if (!take(handshake, at[i]))
			return false;
	return true;
}

bool
handshake_has_name(const unsigned char *at, size_t bytes)
{
	uint8_t matched = 0;

	for (size_t i = 0; i < bytes; i++)
		if (!match(&matched, at[i]))
			return true;
	return false;
}
