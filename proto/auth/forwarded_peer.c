/*
 * forwarded_peer - forwards a peer's identity to the aggregator.
 * SPDX-License-Identifier: MIT
 */
#include "proto/auth/forwarded_peer.h"

#include <endian.h>
#include <string.h>

#include "proto/net/zsock.h"

static const char mark[4] = { 'P', 'S', 'V', '1' };

enum {
	FORWARDED_PEER_BYTES = sizeof(mark) + ZSOCK_KEY_BYTES,
	FORWARDED_UID_BYTES = sizeof(uint32_t),
};

bool
forwarded_peer_add(struct route *route, const struct zsock_peer *peer)
{
	unsigned char frame[FORWARDED_PEER_BYTES + FORWARDED_UID_BYTES] = { 0 };
	uint32_t uid = htole32(peer->uid);
	bool has_uid = peer->has_uid && !peer->keyed;

	memcpy(frame, mark, sizeof(mark));
	if (peer->keyed)
		memcpy(frame + sizeof(mark), peer->key, ZSOCK_KEY_BYTES);
	memcpy(frame + FORWARDED_PEER_BYTES, &uid, sizeof(uid));
	return route_add(route, frame,
	    has_uid ? sizeof(frame) : (size_t)FORWARDED_PEER_BYTES);
}

/* The last frame, its offset, and the number of frames. */
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
forwarded_peer_get(
    const struct route *route, struct zsock_peer *peer, bool *forwarded)
{
	static const unsigned char nobody[ZSOCK_KEY_BYTES];
	struct text last = { NULL, 0 };
	uint32_t at, frames = last_frame(route, &last, &at), uid = 0;

	*peer = (struct zsock_peer){ .keyed = false };
	*forwarded =
	    (last.bytes == FORWARDED_PEER_BYTES ||
		last.bytes == FORWARDED_PEER_BYTES + FORWARDED_UID_BYTES) &&
	    memcmp(last.at, mark, sizeof(mark)) == 0;
	if (!*forwarded)
		return frames;
	memcpy(peer->key, last.at + sizeof(mark), ZSOCK_KEY_BYTES);
	peer->keyed = memcmp(peer->key, nobody, sizeof(nobody)) != 0;
	peer->has_uid = !peer->keyed && last.bytes > FORWARDED_PEER_BYTES;
	if (peer->has_uid)
		memcpy(&uid, last.at + FORWARDED_PEER_BYTES, sizeof(uid));
	peer->uid = le32toh(uid);
	return frames - 1;
}

void
forwarded_peer_take(struct route *route)
{
	struct zsock_peer peer;
	struct text last;
	uint32_t at;
	bool forwarded;

	if (forwarded_peer_get(route, &peer, &forwarded) != 1 || !forwarded)
		return;
	last_frame(route, &last, &at);
	route->bytes = (uint16_t)at;
}
