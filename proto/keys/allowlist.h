/*
 * allowlist - which keys may come through a door, and what each may do.
 *
 * DIR/keys/allow, a line a key, fields separated by one TAB:
 *
 *     PUBLIC ROLE PARTITION-PATTERN NODE-PATTERN NAME
 *
 * PUBLIC is 40 characters of Z85, ROLE agent, broker or reader, patterns are
 * text_match's, NAME is keyfile's.  A line that is empty or begins with
 * '#' says nothing.  A name may have several keys; the last of them is the
 * newest.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_KEYS_ALLOWLIST_H
#define PROTO_KEYS_ALLOWLIST_H

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/keys/keyfile.h"

enum { ALLOW_KEYS_MAX = 100000, ALLOW_BYTES_MAX = 16 << 20 };

struct allow; /* does not change; may be read by several threads */

/* Texts are views, valid as long as their list. */
struct allow_entry {
	unsigned char public[Z85_KEY_BYTES];
	enum key_role role;
	uint32_t line; /* from 1 */
	struct text partition, node, name;
};

/* A new list; of a missing file an empty one.  One bad line refuses the whole
 * file with "path:line: what"; so do another owner, a link, and a mode that
 * lets others write. */
int allow_read(struct allow **list, const char *path, struct err *err);
/* The same for bytes, which are copied; `path` is for the sentence. */
int allow_parse(
    struct allow **list, struct text bytes, const char *path, struct err *err);
void allow_free(struct allow **list);

/* NULL: this key is not on the list, or there is no list (NULL). */
const struct allow_entry *allow_find(
    const struct allow *list, const unsigned char public[Z85_KEY_BYTES]);

/* In the order of the file. */
uint32_t allow_count(const struct allow *list);
const struct allow_entry *allow_at(const struct allow *list, uint32_t i);
/* The whole file, as long as the list lives. */
struct text allow_bytes(const struct allow *list);

/* What allow_change does: first it takes away the lines that `remove` is true
 * for, then it adds one at the end. */
struct allow_change {
	bool (*remove)(const void *arg, const struct allow *list,
	    const struct allow_entry *entry); /* NULL: none */
	const void *arg;
	const struct allow_entry *add; /* NULL: none; its line is not read */
};

/* Change the file under a lock, keeping its comments: it is the old one or the
 * new one whenever somebody reads it, also after a crash.  `*removed` counts
 * lines; without a change the file is not touched. */
int allow_change(const char *path, const struct allow_change *change,
    uint32_t *removed, struct err *err);

#endif
