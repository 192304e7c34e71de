/*
 * forwarded_peer - whom a broker lets through, told to who keeps.
 * SPDX-License-Identifier: MIT
 */
#include "proto/auth/forwarded_peer.h"

#include <string.h>

#include "proto/net/route.h"

static const char mark[4] = { 'P', 'S', 'V', '1' };

enum { VOUCH_BYTES = sizeof(mark) + PORT_KEY_BYTES };

bool
vouch_add(struct route *route, const struct port_peer *peer)
{
	unsigned char frame[VOUCH_BYTES] = { 0 };

	memcpy(frame, mark, sizeof(mark));
	if (peer->keyed)
		memcpy(frame + sizeof(mark), peer->key, PORT_KEY_BYTES);
	return route_add(route, frame, sizeof(frame));
}

/* The last frame, where it begins, and how many there are. */
static uint32_t
last_frame(const struct route *route, struct text *last, uint32_t *at)
{
	struct text frame;
	uint32_t offset = 0, begin = 0, frames = 0;

	*at = 0;
	while (route_next(route, &offset, &frame)) {
		*last = frame;
		*at = begin;
		begin = offset;
		frames++;
	}
	return frames;
}

uint32_t
vouch_get(const struct route *route, struct port_peer *peer, bool *vouched)
{
	static const unsigned char nobody[PORT_KEY_BYTES];
	struct text last = { NULL, 0 };
	uint32_t at, frames = last_frame(route, &last, &at);

	*peer = (struct port_peer){ .keyed = false };
	*vouched = last.bytes == VOUCH_BYTES &&
		   memcmp(last.at, mark, sizeof(mark)) == 0;
	if (!*vouched)
		return frames;
	memcpy(peer->key, last.at + sizeof(mark), PORT_KEY_BYTES);
	peer->keyed = memcmp(peer->key, nobody, sizeof(nobody)) != 0;
	return frames - 1;
}

void
vouch_take(struct route *route)
{
	struct port_peer peer;
	struct text last;
	uint32_t at;
	bool vouched;

	if (vouch_get(route, &peer, &vouched) != 1 || !vouched)
		return;
	last_frame(route, &last, &at);
	route->bytes = (uint16_t)at;
}
