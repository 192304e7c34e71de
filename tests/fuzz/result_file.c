/*
 * result_file - any file is results that a store takes, or bad with a reason.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/results/result_file.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_name(struct text name)
{
	assert(name.bytes > 0 && name.bytes <= RESULT_NAME_BYTES_MAX);
	assert(text_is_utf8(name));
}

static void
read_one(struct text text, bool strict)
{
	struct result_file result;
	struct err err = { 0 };

	if (result_file_read(&result, text, strict, &err) != 0) {
		assert(err.text[0] != '\0');
		return;
	}
	check_name(result.test);
	assert(result.count <= RESULT_ENTRIES_MAX);
	assert(!strict || result.bad == 0);
	for (uint32_t i = 0; i < result.count; i++) {
		const struct result_entry *entry = &result.entries[i];

		check_name(entry->name);
		assert(
		    entry->info.at >= text.at &&
		    entry->info.at + entry->info.bytes <= text.at + text.bytes);
		assert(*entry->info.at == '{' &&
		       entry->info.at[entry->info.bytes - 1] == '}');
		if (entry->timing.type == VALUE_TEXT)
			assert(text_is_utf8(entry->timing.is.text));
	}
	result_file_clear(&result);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text text = { (const char *)data, (uint32_t)size };

	if (size > RESULT_FILE_BYTES_MAX + 1)
		return 0;
	read_one(text, false);
	read_one(text, true);
	return 0;
}
