/*
 * secret - keys and passwords, from where others cannot read them.
 *
 * From the service's own environment variable, or from a file that is the
 * user's own with mode 0600 or less; never from the command line.  The memory
 * is locked, not dumped, and zeroed at the end; a process that has had a secret
 * leaves no core file and cannot be looked into by others of its user.
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
	unsigned char *at; /* of the secret's own memory; ends with a NUL */
	uint32_t bytes;    /* without it, and without a newline at the end */
};

/* From $NAME, else from the file that $NAME_FILE names.  `*found` false and 0:
 * neither is set.  An empty value counts as not set. */
int secret_from_environment(
    struct secret *secret, const char *name, bool *found, struct err *err);
/* From a regular file of this user (or root's) that no one else can read. */
int secret_from_file(struct secret *secret, const char *path, struct err *err);
int secret_from_file_of(struct secret *secret, const char *path,
    enum trusted_file kind, struct err *err);
/* The whole header "Authorization: KIND SECRET", with a secret of the same
 * variables; 0 and nothing when neither is set. */
int secret_authorization(
    struct secret *secret, const char *name, const char *kind, struct err *err);
void secret_clear(struct secret *secret);

/* Memory between guard pages, locked and left out of dumps where the system
 * allows that; its content is not set.  Free zeroes it and takes NULL. */
unsigned char *secret_memory(size_t bytes);
void secret_free(unsigned char **at);

static inline struct text
secret_text(const struct secret *secret)
{
	return (struct text){ (const char *)secret->at, secret->bytes };
}

#endif
