/*
 * secret - reads keys and passwords from places that others cannot read.
 *
 * A secret comes from the service's own environment variable, or from a file
 * of this user with mode 0600 or less; never from the command line.  Its
 * memory is locked, excluded from dumps, and zeroed at the end; a process that
 * has read a secret leaves no core file and cannot be traced by others of its
 * user.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_KEYS_SECRET_H
#define PROTO_KEYS_SECRET_H

#include <stdbool.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/keys/trusted_file.h"

enum { SECRET_BYTES_MAX = 16 << 10 };

struct secret {
	unsigned char *at; /* memory of the secret; ends with a NUL */
	uint32_t bytes;    /* without the NUL and a final newline */
};

/* From $NAME, else from the file that $NAME_FILE names.  Returns 0 with
 * `*found` false when neither is set.  An empty value counts as not set. */
int secret_from_environment(
    struct secret *secret, const char *name, bool *found, struct err *err);
/* From a regular file of this user (or root) that nobody else can read. */
int secret_from_file(struct secret *secret, const char *path, struct err *err);
int secret_from_file_of(struct secret *secret, const char *path,
    enum trusted_file kind, struct err *err);
/* The whole header "Authorization: KIND SECRET", with the secret that
 * secret_from_environment finds; 0 and an empty `secret` when it finds none. */
int secret_authorization(
    struct secret *secret, const char *name, const char *kind, struct err *err);
void secret_clear(struct secret *secret);

/* Memory between guard pages, locked and excluded from dumps where the system
 * allows it; not initialised.  Free zeroes it and accepts NULL. */
unsigned char *secret_memory(size_t bytes);
void secret_free(unsigned char **at);

static inline struct text
secret_text(const struct secret *secret)
{
	return (struct text){ (const char *)secret->at, secret->bytes };
}

#endif
