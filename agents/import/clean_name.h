/*
 * import_clean_name - makes a valid name of any bytes.
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

/* Bytes that are not UTF-8 are read as Latin-1, control characters become
 * U+FFFD, a long name is cut and ends with a hash of all of it, an empty one
 * becomes "(no name)".  False: the name was changed. */
bool import_name_set(struct import_name *name, struct text bytes);

static inline struct text
import_name_text(const struct import_name *name)
{
	return (struct text){ name->at, name->bytes };
}

#endif
