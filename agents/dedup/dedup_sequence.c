/*
 * dedup_sequence - remembers the numbered submissions of clients.
 *
 * The table consists of buckets with a few entries each; in a full bucket the
 * session that was silent for longest is replaced.
 * SPDX-License-Identifier: MIT
 */
#include "agents/dedup/dedup_sequence.h"

#include <stdlib.h>
#include <string.h>

#include "proto/hash/hash.h"
#include "proto/base/memory.h"

enum { ENTRIES = 8, BUCKETS = DEDUP_SEQUENCE_SESSIONS / ENTRIES };

struct entry {
	struct session_id session;
	uid_t uid;
	uint64_t seq;
	uint64_t used; /* turn of the last use; 0: free */
};

struct dedup_sequence {
	struct hash_key key;
	uint64_t turn;
	struct entry entry[BUCKETS][ENTRIES];
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
static struct entry *
find(struct dedup_sequence *dedup_sequence, uid_t uid,
    const struct session_id *session)
{
	unsigned char key[sizeof(uid) + sizeof(session->bytes)];
	uint64_t hash;
	struct entry *set, *oldest;

	memcpy(key, &uid, sizeof(uid));
	memcpy(key + sizeof(uid), session->bytes, sizeof(session->bytes));
	hash = hash_bytes(dedup_sequence->key, key, sizeof(key));
	set = oldest = dedup_sequence->entry[hash % BUCKETS];
	for (struct entry *at = set; at < set + ENTRIES; at++) {
		if (at->used > 0 && at->uid == uid &&
		    session_equal(&at->session, session))
			return at;
		if (at->used < oldest->used)
			oldest = at;
	}
	*oldest = (struct entry){ .session = *session, .uid = uid };
	return oldest;
}

bool
dedup_sequence_take(struct dedup_sequence *dedup_sequence, uid_t uid,
    const struct session_id *session, uint64_t seq)
{
	struct entry *entry = find(dedup_sequence, uid, session);

	entry->used = ++dedup_sequence->turn;
	if (seq <= entry->seq)
		return false;
	entry->seq = seq;
	return true;
}

void
dedup_sequence_forget(struct dedup_sequence *dedup_sequence, uid_t uid,
    const struct session_id *session, uint64_t seq)
{
	struct entry *entry = find(dedup_sequence, uid, session);

	if (entry->seq == seq)
		entry->seq = seq - 1;
}
