/*
 * keys - the keys of an instance, and which of them are authorized.
 *
 * The functions of poolscope-keys: they write files in DIR/keys
 * (proto/keys/keyfile.h) and lines of DIR/keys/allow
 * (proto/keys/authorized_keys.h), and send SIGHUP to the running daemons, so
 * that a change takes effect at once.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_KEYS_KEYS_H
#define AGGREGATOR_KEYS_KEYS_H

#include <stdio.h>

#include "proto/answer/answer.h"
#include "proto/config/instance.h"
#include "proto/keys/authorized_keys.h"
#include "proto/keys/keyfile.h"

#define KEYS_SERVER      "server"
#define KEYS_SERVER_NEXT "server.next"
#define KEYS_SERVER_OLD  "server.old"

/* The properties of a new key. */
struct keys_grant {
	const char *name;
	enum key_role role;
	const char *partition, *node; /* patterns */
};

/* Create DIR/keys if it does not exist. */
int keys_make_directory(struct err *err);
/* DIR/keys/`name``suffix`. */
int keys_path(char to[static INSTANCE_PATH_BYTES], const char *name,
    const char *suffix, struct err *err);
/* `file`, or without it (NULL) DIR/keys/NAME.key. */
int keys_file(char to[static INSTANCE_PATH_BYTES], const char *name,
    const char *file, struct err *err);
int keys_allow_path(char to[static INSTANCE_PATH_BYTES], struct err *err);

/* The public keys that clients must know: that of the server key and, during a
 * rotation, that of the next one; -1 when there is none. */
int keys_servers(struct keyfile *key, struct err *err);

/* Remove lines, add one, and notify the daemons. */
int keys_change(const struct authorized_keys_change *change, uint32_t *removed,
    struct err *err);
/* Make broker and aggregator of the instance reload their keys, and wait until
 * they have (5 s). */
void keys_notify(void);
/* The same for the programs that connect with a key: agent and broker. */
void keys_notify_clients(void);

/* For authorized_keys_change: matches the lines with this public key (`arg`).
 */
bool keys_has_public(const void *arg, const struct authorized_keys *list,
    const struct authorized_key *entry);

/* The newest line of a name; NULL: there is none. */
const struct authorized_key *keys_newest(
    const struct authorized_keys *list, struct text name, uint32_t *keys);

/* The verbs.  `file` is a path; NULL: DIR/keys/NAME.key. */
int keys_new_server(struct err *err);
int keys_new(const struct keys_grant *grant, const char *file, struct err *err);
/* Create a key for other servers, with these public keys. */
int keys_new_for(const struct keys_grant *grant, const char *file,
    const unsigned char (*servers)[Z85_KEY_BYTES], uint32_t count,
    struct err *err);
int keys_allow(const struct keys_grant *grant,
    const unsigned char public[Z85_KEY_BYTES], struct err *err);
int keys_revoke(const char *what, struct err *err);
int keys_rotate(const char *name, const char *file, struct err *err);
int keys_rotate_finish(const char *name, struct err *err);
/* `files`: key files outside DIR/keys that get the new key, or lose the old
 * one. */
int keys_rotate_server(char *const *files, uint32_t count, struct err *err);
int keys_rotate_server_finish(
    char *const *files, uint32_t count, struct err *err);

/* Tokens for poolscope-web (proto/keys/token.h): print a new one that may read
 * the partitions of the grant; remove lines of DIR/keys/tokens. */
int keys_token(const struct keys_grant *grant, struct err *err);
int keys_revoke_tokens(const struct authorized_keys_change *change,
    uint32_t *removed, struct err *err);
int keys_tokens_path(char to[static INSTANCE_PATH_BYTES], struct err *err);

int keys_list(struct answer *answer, struct err *err);
extern const struct answer_table keys_tables[];

#endif
