/*
 * allowlist - which keys may come through a listener, and what each may do.
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

enum { ALLOWLIST_KEYS_MAX = 100000, ALLOWLIST_BYTES_MAX = 16 << 20 };

struct allowlist; /* does not change; may be read by several threads */

/* Texts are views, valid as long as their list. */
struct allowlist_entry {
	unsigned char public[Z85_KEY_BYTES];
	enum key_role role;
	uint32_t line; /* from 1 */
	struct text partition, node, name;
};

/* A new list; of a missing file an empty one.  One bad line refuses the whole
 * file with "path:line: what"; so do another owner, a link, and a mode that
 * lets others write. */
int allowlist_read(struct allowlist **list, const char *path, struct err *err);
/* The same for bytes, which are copied; `path` is for the sentence. */
int allowlist_parse(struct allowlist **list, struct text bytes,
    const char *path, struct err *err);
void allowlist_free(struct allowlist **list);

/* NULL: this key is not on the list, or there is no list (NULL). */
const struct allowlist_entry *allowlist_find(
    const struct allowlist *list, const unsigned char public[Z85_KEY_BYTES]);

/* In the order of the file. */
uint32_t allowlist_count(const struct allowlist *list);
const struct allowlist_entry *allowlist_at(
    const struct allowlist *list, uint32_t i);
/* The whole file, as long as the list lives. */
struct text allowlist_bytes(const struct allowlist *list);

/* What allowlist_change does: first it takes away the lines that `remove` is
 * true for, then it adds one at the end. */
struct allowlist_change {
	bool (*remove)(const void *arg, const struct allowlist *list,
	    const struct allowlist_entry *entry); /* NULL: none */
	const void *arg;
	const struct allowlist_entry
	    *add; /* NULL: none; its line is not read */
};

/* Change the file under a lock, keeping its comments: it is the old one or the
 * new one whenever somebody reads it, also after a crash.  `*removed` counts
 * lines; without a change the file is not touched. */
int allowlist_change(const char *path, const struct allowlist_change *change,
    uint32_t *removed, struct err *err);

#endif
