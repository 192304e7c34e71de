/*
 * journal_entry - the bytes of a journal entry.
 *
 * Private to this folder; proto/store.md, "Journal", is normative.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_JOURNAL_ENTRY_H
#define AGGREGATOR_JOURNAL_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/text.h"

enum { ENTRY_FIXED_BYTES = 40, ENTRY_KEY_BYTES = 8, ENTRY_REJECTED = 1 };

struct entry {
	bool rejected;
	uint8_t fault;
	int64_t receive_ns;
	uint64_t offset; /* total bytes of all earlier entries */
	uint64_t seq;    /* its first number that was not stored before */
	uint64_t owner;  /* of its stream */
	struct text frame;
};

struct text entry_key(
    unsigned char key[static ENTRY_KEY_BYTES], uint64_t number);
bool entry_number(struct text key, uint64_t *number);
void entry_put(unsigned char *to, const struct entry *entry);
bool entry_get(struct text value, struct entry *entry);

#endif
