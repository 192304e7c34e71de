/*
 * keyfile - a curve25519 key pair, its role, and the server keys that go with
 * it, in a text file of mode 0600.
 *
 *     poolscope-key: 1
 *     name: pool-nodes
 *     role: agent
 *     public: <40 characters, Z85>
 *     secret: <40 characters, Z85>
 *     server: <40 characters, Z85>
 *
 * The line poolscope-key must be the first.  Empty lines and lines that begin
 * with '#' are ignored.  A key of role server has no server: line; others have
 * one to four: while the server's key is rotated, the old and the new one.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_KEYS_KEYFILE_H
#define PROTO_KEYS_KEYFILE_H

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/keys/z85.h"

enum key_role { KEY_AGENT, KEY_BROKER, KEY_READER, KEY_SERVER, KEY_ROLES };

enum {
	KEYFILE_NAME_MAX = 100,
	KEYFILE_SERVERS_MAX = 4,
};

struct keyfile {
	char name[KEYFILE_NAME_MAX + 1];
	enum key_role role;
	unsigned char public[Z85_KEY_BYTES];
	unsigned char *secret; /* Z85_KEY_BYTES of secret_memory() */
	unsigned char server[KEYFILE_SERVERS_MAX][Z85_KEY_BYTES];
	uint32_t servers;
};

/* "agent", "broker", "reader", "server". */
const char *key_role_name(enum key_role role);
/* False: no such role. */
bool key_role_parse(struct text t, enum key_role *role);

/* A name is also a file name: 1..KEYFILE_NAME_MAX letters, digits, '.', '_'
 * and '-', beginning with a letter or digit. */
bool keyfile_name_is_good(struct text name);

/* A new pair from the kernel's random numbers, without a server key. */
void keyfile_make(struct keyfile *key, const char *name, enum key_role role);

/* -1: the file is not regular, is a symbolic link, belongs to another user
 * (unless root), is readable by others, is too long, or has a bad or missing
 * line; or its secret does not belong to its public key. */
int keyfile_read(struct keyfile *key, const char *path, struct err *err);

/* The same for bytes in memory; `path` is for the sentence. */
int keyfile_parse(
    struct keyfile *key, struct text bytes, const char *path, struct err *err);

/* Atomic.  Unless `replace`, an existing file stays and is an error. */
int keyfile_write(
    const struct keyfile *key, const char *path, bool replace, struct err *err);

/* Zero the secret and free it; safe after a failed read, and twice. */
void keyfile_clear(struct keyfile *key);

#endif
