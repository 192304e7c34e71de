/*
 * session - the identity of a session.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_RECORD_SESSION_H
#define PROTO_RECORD_SESSION_H

#include <stdbool.h>

/* 128 random bits, created with a spool; imports derive them from content. */
struct session_id {
	unsigned char bytes[16];
};

bool session_equal(const struct session_id *a, const struct session_id *b);
/* 32 hexadecimal digits and NUL. */
const char *session_text(char to[static 33], const struct session_id *id);
void session_random(struct session_id *id);

#endif
