/*
 * session - the identity of a session.
 * SPDX-License-Identifier: MIT
 */
#include "proto/record/session.h"

#include <string.h>

#include "proto/hash/hash.h"
#include "proto/base/text.h"

bool
session_equal(const struct session_id *a, const struct session_id *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

bool
session_is_known(const struct session_id *id)
{
	static const struct session_id none;

	return !session_equal(id, &none);
}

const char *
session_text(char to[static 33], const struct session_id *id)
{
	*text_hex(to, id->bytes, sizeof(id->bytes)) = '\0';
	return to;
}

void
session_random(struct session_id *id)
{
	hash_random_bytes(id->bytes, sizeof(id->bytes));
}
