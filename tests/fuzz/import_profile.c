/*
 * import_profile - any file is threads, intervals within the range of time and
 * names that a store takes, at most one place where it is damaged, and an end.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/scanner/profile.h"

#include <assert.h>
#include <stdlib.h>

#include "proto/os/clock.h"
#include "tests/fuzz/import_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_name(const struct import_name *name)
{
	assert(text_check_name(import_name_text(name)) == TEXT_OK);
}

static void
read_as(struct import_file *file, bool is_master, int64_t base_ns)
{
	static struct import_profile p;
	struct err err;
	enum profile_item item;
	bool in_thread = false, is_damaged = false;
	uint64_t items = 0;

	import_file_rewind(file);
	import_profile_init(&p, file, is_master, base_ns);
	do {
		err.text[0] = '\0';
		item = import_profile_next(&p, &err);
		/* Whatever is given has taken a byte, but a few at the end. */
		assert(items++ <= file->bytes + 4);
		assert(import_profile_offset(&p) <= file->bytes);
		switch (item) {
		case PROFILE_THREAD:
			assert(!in_thread && !is_damaged);
			in_thread = true;
			break;
		case PROFILE_INTERVAL:
			assert(in_thread && !is_damaged);
			check_name(&p.keys[p.id]);
			assert(p.from_ns >= TIME_MIN_NS &&
			       p.from_ns <= TIME_MAX_NS &&
			       p.to_ns >= TIME_MIN_NS &&
			       p.to_ns <= TIME_MAX_NS);
			break;
		case PROFILE_COUNTER:
			assert(in_thread && !is_damaged);
			check_name(&p.counter_name);
			break;
		case PROFILE_THREAD_END:
			assert(in_thread);
			in_thread = false;
			break;
		case PROFILE_DAMAGED:
			assert(!is_damaged && err.text[0] != '\0');
			is_damaged = true;
			break;
		case PROFILE_NOTE: assert(err.text[0] != '\0'); break;
		case PROFILE_END: assert(!in_thread); break;
		default: abort(); /* a file in memory can be read */
		}
	} while (item != PROFILE_END);
	assert(import_profile_next(&p, &err) == PROFILE_END);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct import_file file;

	import_input_open(&file, data, size);
	read_as(&file, false, INT64_C(1546300800123456789));
	read_as(&file, true, TIME_MAX_NS);
	import_file_close(&file);
	return 0;
}
