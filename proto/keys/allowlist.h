/*
 * allowlist - the authorized keys, and what each may do.
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
#ifndef PROTO_KEYS_ALLOWLIST_H
#define PROTO_KEYS_ALLOWLIST_H

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/keys/keyfile.h"

enum { ALLOWLIST_KEYS_MAX = 100000, ALLOWLIST_BYTES_MAX = 16 << 20 };

struct allowlist; /* immutable; several threads may read it */

/* Texts are views, valid while the list lives. */
struct allowlist_entry {
	unsigned char public[Z85_KEY_BYTES];
	enum key_role role;
	uint32_t line; /* from 1 */
	struct text partition, node, name;
};

/* A new list; an empty one if the file does not exist.  One bad line refuses
 * the whole file with "path:line: reason"; so do another owner, a symbolic
 * link, and a mode that lets others write. */
int allowlist_read(struct allowlist **list, const char *path, struct err *err);
/* The same for bytes in memory, which are copied; `path` is for the
 * sentence. */
int allowlist_parse(struct allowlist **list, struct text bytes,
    const char *path, struct err *err);
void allowlist_free(struct allowlist **list);

/* NULL: the key is not in the list, or the list is NULL. */
const struct allowlist_entry *allowlist_find(
    const struct allowlist *list, const unsigned char public[Z85_KEY_BYTES]);

/* In file order. */
uint32_t allowlist_count(const struct allowlist *list);
const struct allowlist_entry *allowlist_at(
    const struct allowlist *list, uint32_t i);
/* The whole file, valid while the list lives. */
struct text allowlist_bytes(const struct allowlist *list);

/* A change: remove the lines for which `remove` returns true, then append
 * one. */
struct allowlist_change {
	bool (*remove)(const void *arg, const struct allowlist *list,
	    const struct allowlist_entry *entry); /* NULL: none */
	const void *arg;
	const struct allowlist_entry
	    *add; /* NULL: none; its line number is not read */
};

/* Change the file under a lock and keep its comments.  Readers see the old or
 * the new file, also after a crash.  `*removed` counts lines; without a change
 * the file is not touched. */
int allowlist_change(const char *path, const struct allowlist_change *change,
    uint32_t *removed, struct err *err);

#endif
