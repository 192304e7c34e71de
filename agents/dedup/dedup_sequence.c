/*
 * dedup_sequence - remembers the numbered submissions of clients.
 *
 * The table consists of buckets with a few entries each; in a full bucket the
 * session that was silent longest is replaced.
 * SPDX-License-Identifier: MIT
 */
#include "agents/dedup/dedup_sequence.h"

#include <stdlib.h>

#include "proto/hash/hash.h"
#include "proto/base/memory.h"

enum { PLACES = 8, SETS = DEDUP_SEQUENCE_SESSIONS / PLACES };

struct place {
	struct session_id session;
	uint64_t seq;
	uint64_t used; /* time of last use; 0: free */
};

struct dedup_sequence {
	struct hash_key key;
	uint64_t turn;
	struct place place[SETS][PLACES];
};

void
dedup_sequence_new(struct dedup_sequence **made)
{
	*made = memory_zero(1, sizeof(**made));
	(*made)->key = hash_key_random();
}

void
dedup_sequence_free(struct dedup_sequence **gone)
{
	free(*gone);
	*gone = NULL;
}

bool
dedup_sequence_is_numbered(const struct session_id *session, uint64_t seq)
{
	static const struct session_id none = { { 0 } };

	return seq > 0 && !session_equal(session, &none);
}

/* The entry of the session, or the one to use for it. */
static struct place *
find(struct dedup_sequence *dedup_sequence, const struct session_id *session)
{
	uint64_t hash = hash_bytes(
	    dedup_sequence->key, session->bytes, sizeof(session->bytes));
	struct place *set = dedup_sequence->place[hash % SETS], *oldest = set;

	for (struct place *at = set; at < set + PLACES; at++) {
		if (at->used > 0 && session_equal(&at->session, session))
			return at;
		if (at->used < oldest->used)
			oldest = at;
	}
	*oldest = (struct place){ .session = *session };
	return oldest;
}

bool
dedup_sequence_take(struct dedup_sequence *dedup_sequence,
    const struct session_id *session, uint64_t seq)
{
	struct place *place = find(dedup_sequence, session);

	place->used = ++dedup_sequence->turn;
	if (seq <= place->seq)
		return false;
	place->seq = seq;
	return true;
}

void
dedup_sequence_forget(struct dedup_sequence *dedup_sequence,
    const struct session_id *session, uint64_t seq)
{
	struct place *place = find(dedup_sequence, session);

	if (place->seq == seq)
		place->seq = seq - 1;
}
