/*
 * keyfile - one curve25519 key pair, the server's keys that go with it, and
 * what it may do, in a text file of mode 0600.
 *
 *     poolscope-key: 1
 *     name: pool-nodes
 *     role: agent
 *     public: <40 characters, Z85>
 *     secret: <40 characters, Z85>
 *     server: <40 characters, Z85>
 *
 * The first line is the first; lines that are empty or begin with '#' say
 * nothing.  A key with the role server has no server: line, others have one
 * to four: the old one and the new one while the server's key is rotated.
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

/* A name is a file name, too: 1..KEYFILE_NAME_MAX letters, digits, '.', '_'
 * and '-', of which the first is a letter or digit. */
bool keyfile_name_is_good(struct text name);

/* A new pair from the kernel's random numbers, without a server. */
void keyfile_make(struct keyfile *key, const char *name, enum key_role role);

/* Refuses, with one sentence, a file that is no regular file, is a link, is
 * another user's (unless root's), can be read by others, is too long, has a
 * line wrong or missing, or whose secret is not that of its public key. */
int keyfile_read(struct keyfile *key, const char *path, struct err *err);

/* The same for bytes; `path` is for the sentence. */
int keyfile_parse(
    struct keyfile *key, struct text bytes, const char *path, struct err *err);

/* Whole or not at all; unless `replace` a file that is there stays and is an
 * error. */
int keyfile_write(
    const struct keyfile *key, const char *path, bool replace, struct err *err);

/* Zero the secret and free it; also after a read that failed, or twice. */
void keyfile_clear(struct keyfile *key);

#endif
