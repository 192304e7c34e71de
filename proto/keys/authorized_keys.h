/*
 * authorized_keys - the authorized keys, and what each may do.
 *
 * DIR/keys/allow has one line per key, with fields separated by one TAB:
 *
 *     PUBLIC ROLE PARTITION-PATTERN NODE-PATTERN NAME
 *
 * PUBLIC is 40 characters of Z85, ROLE is agent, broker or reader, patterns
 * are those of text_match, NAME is that of keyfile.h.  Empty lines and lines
 * that begin with '#' are ignored.  A name may have several keys; the last of
 * them is the newest.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_KEYS_AUTHORIZED_KEYS_H
#define PROTO_KEYS_AUTHORIZED_KEYS_H

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/keys/keyfile.h"

enum { AUTHORIZED_KEYS_MAX = 100000, AUTHORIZED_KEYS_BYTES_MAX = 16 << 20 };

struct authorized_keys; /* immutable; several threads may read it */

/* Texts are views, valid while the list lives. */
struct authorized_key {
	unsigned char public[Z85_KEY_BYTES];
	enum key_role role;
	uint32_t line; /* from 1 */
	struct text partition, node, name;
};

/* Returns a new list in `*list`; an empty one if the file does not exist.  -1:
 * a line is bad ("path:line: reason"), the file belongs to another user, is a
 * symbolic link, or can be written by others. */
int authorized_keys_read(
    struct authorized_keys **list, const char *path, struct err *err);
/* The same for bytes in memory, which are copied; `path` is for the
 * sentence. */
int authorized_keys_parse(struct authorized_keys **list, struct text bytes,
    const char *path, struct err *err);
void authorized_keys_free(struct authorized_keys **list);

/* NULL: the key is not in the list, or the list is NULL. */
const struct authorized_key *authorized_keys_find(
    const struct authorized_keys *list,
    const unsigned char public[Z85_KEY_BYTES]);

/* In file order. */
uint32_t authorized_keys_count(const struct authorized_keys *list);
const struct authorized_key *authorized_keys_at(
    const struct authorized_keys *list, uint32_t i);
/* The whole file, valid while the list lives. */
struct text authorized_keys_bytes(const struct authorized_keys *list);

/* A change: remove the entries for which `remove` returns true (NULL: none),
 * then append `add` (NULL: nothing; its line number is not used). */
struct authorized_keys_change {
	bool (*remove)(const void *arg, const struct authorized_keys *list,
	    const struct authorized_key *entry);
	const void *arg;
	const struct authorized_key *add;
};

/* Change the file under a lock; comments stay.  Readers see the old or the new
 * file, also after a crash.  `*removed` gets the number of removed entries.  A
 * change without effect does not touch the file. */
int authorized_keys_change(const char *path,
    const struct authorized_keys_change *change, uint32_t *removed,
    struct err *err);

#endif
