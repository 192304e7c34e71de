/*
 * authorized_keys - any list is taken whole or refused with the line, and each
 * key in it is found.
 * SPDX-License-Identifier: MIT
 */
#include "proto/keys/authorized_keys.h"

#include <assert.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text text = { (const char *)data, (uint32_t)size };
	struct err err = { 0 };
	struct authorized_keys *list;
	unsigned line;

	if (size > 65536)
		return 0;
	if (authorized_keys_parse(&list, text, "file", &err) != 0) {
		assert(sscanf(err.text, "file:%u:", &line) == 1);
		assert(list == NULL);
		return 0;
	}
	for (uint32_t i = 0; i < authorized_keys_count(list); i++) {
		const struct authorized_key *entry =
		    authorized_keys_at(list, i);

		assert(authorized_keys_find(list, entry->public) == entry);
		assert(entry->role != KEY_SERVER);
		assert(keyfile_name_is_good(entry->name));
		(void)text_match(entry->partition, entry->node);
		(void)text_match(entry->node, entry->partition);
	}
	authorized_keys_free(&list);
	return 0;
}
