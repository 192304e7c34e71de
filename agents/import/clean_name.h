/*
 * import_clean_name - any bytes as a name that the store takes.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGENTS_IMPORT_CLEAN_NAME_H
#define AGENTS_IMPORT_CLEAN_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"

struct import_name {
	char at[NAME_BYTES_MAX];
	uint8_t bytes; /* 0: none */
};

/* Bytes that are no UTF-8 are taken as Latin-1, control characters become
 * U+FFFD, what is too long is cut and ends with a hash of all of it, nothing
 * becomes "(no name)".  False: it is not as it was. */
bool import_name_set(struct import_name *name, struct text bytes);

static inline struct text
import_name_text(const struct import_name *name)
{
	return (struct text){ name->at, name->bytes };
}

#endif
