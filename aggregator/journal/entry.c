/*
 * journal_entry - the bytes of a journal entry.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/journal/entry.h"

#include <endian.h>
#include <string.h>

/* Everything before the frame, as stored on disk. */
struct entry_fixed {
	uint8_t flags, fault;
	uint16_t zero;
	uint32_t zeros;
	uint64_t receive_ns, offset, seq, owner;
};
_Static_assert(sizeof(struct entry_fixed) == ENTRY_FIXED_BYTES, "no padding");

struct text
entry_key(unsigned char key[static ENTRY_KEY_BYTES], uint64_t number)
{
	number = htobe64(number);
	memcpy(key, &number, ENTRY_KEY_BYTES);
	return (struct text){ (const char *)key, ENTRY_KEY_BYTES };
}

bool
entry_number(struct text key, uint64_t *number)
{
	if (key.bytes != ENTRY_KEY_BYTES)
		return false;
	memcpy(number, key.at, ENTRY_KEY_BYTES);
	*number = be64toh(*number);
	return true;
}

void
entry_put(unsigned char *to, const struct entry *entry)
{
	struct entry_fixed fixed = {
		.flags = entry->rejected ? ENTRY_REJECTED : 0,
		.fault = entry->fault,
		.receive_ns = htole64((uint64_t)entry->receive_ns),
		.offset = htole64(entry->offset),
		.seq = htole64(entry->seq),
		.owner = htole64(entry->owner),
	};

	memcpy(to, &fixed, sizeof(fixed));
	memcpy(to + sizeof(fixed), entry->frame.at, entry->frame.bytes);
}

bool
entry_get(struct text value, struct entry *entry)
{
	struct entry_fixed fixed;

	if (value.bytes < sizeof(fixed))
		return false;
	memcpy(&fixed, value.at, sizeof(fixed));
	*entry = (struct entry){
		.rejected = (fixed.flags & ENTRY_REJECTED) != 0,
		.fault = fixed.fault,
		.receive_ns = (int64_t)le64toh(fixed.receive_ns),
		.offset = le64toh(fixed.offset),
		.seq = le64toh(fixed.seq),
		.owner = le64toh(fixed.owner),
		.frame = { value.at + sizeof(fixed),
		    value.bytes - (uint32_t)sizeof(fixed) },
	};
	return true;
}
