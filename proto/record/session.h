/*
 * session - the identity of a session.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_RECORD_SESSION_H
#define PROTO_RECORD_SESSION_H

#include <stdbool.h>

/* 128 random bits that each start of a sender draws; imports derive them from
 * their content. */
struct session_id {
	unsigned char bytes[16];
};

bool session_equal(const struct session_id *a, const struct session_id *b);
/* No session is all zeros: that of a record whose store has lost the name. */
bool session_is_known(const struct session_id *id);
/* 32 hexadecimal digits and NUL. */
const char *session_text(char to[static 33], const struct session_id *id);
void session_random(struct session_id *id);

#endif
