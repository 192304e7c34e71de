/*
 * import_scanner_sums - sums of the intervals and counters of one thread.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/scanner/sums.h"

#include <string.h>

void
import_scanner_sums_begin(struct import_scanner_sums *sums)
{
	for (uint32_t i = 0; i < SCANNER_KEYS_MAX; i++)
		sums->count[i] = 0;
	sums->keys = sums->part = 0;
	sums->listed = false;
	sums->lines.bytes = sums->reported = 0;
	sums->intervals = 0;
}

static void
add_line(struct import_scanner_sums *sums, const struct scanner_sum *sum)
{
	char *to = (char *)buffer_need(&sums->lines, SCANNER_LINE_BYTES);

	sums->lines.bytes += scanner_put_sum(to, sum);
}

void
import_scanner_sums_list(
    struct import_scanner_sums *sums, const struct import_profile *profile)
{
	if (sums->listed)
		return;
	sums->listed = true;
	for (uint32_t i = 0; i < sums->keys; i++) {
		uint8_t id = sums->seen[i];
		struct scanner_sum sum = { .count = sums->count[id],
			.sum_ns = (double)sums->sum_ns[id],
			.name = import_name_text(&profile->keys[id]) };

		add_line(sums, &sum);
	}
}

void
import_scanner_sums_list_counter(
    struct import_scanner_sums *sums, const struct import_profile *profile)
{
	struct scanner_sum sum = { .is_counter = true,
		.value = profile->value,
		.name = import_name_text(&profile->counter_name) };

	import_scanner_sums_list(sums, profile);
	add_line(sums, &sum);
}

struct text
import_scanner_sums_take(struct import_scanner_sums *sums)
{
	const char *from = (const char *)sums->lines.at + sums->reported;
	struct text lines = { from, (uint32_t)import_scanner_sums_left(sums) };

	if (lines.bytes > SCANNER_PART_BYTES) {
		const char *end = memrchr(from, '\n', SCANNER_PART_BYTES);

		lines.bytes = (uint32_t)(end - from) + 1;
	}
	sums->part++;
	sums->reported += lines.bytes;
	if (import_scanner_sums_left(sums) == 0)
		sums->lines.bytes = sums->reported = 0;
	return lines;
}
