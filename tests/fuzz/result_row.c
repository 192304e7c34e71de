/*
 * result_row - any bytes as the id and properties of an entity of a result,
 * and its text as JSON: what is read lies within them, and what is written
 * again is the same once more.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "exporters/results/read.h"
#include "exporters/results/result_file.h"
#include "proto/json/json_relayout.h"
#include "proto/msgpack/walk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
must(bool good)
{
	if (!good)
		abort();
}

static bool
lies_in(struct text part, struct text all)
{
	return part.bytes == 0 || (part.at >= all.at && part.at + part.bytes <=
							    all.at + all.bytes);
}

/* A byte that says the kind, one with the length of the id, the id, pairs. */
static void
try_row(struct text bytes)
{
	static const char *const kinds[] = { RESULT_KIND_TEST, RESULT_KIND_RUN,
		RESULT_KIND_ENTRY, "other" };
	struct record record = { .kind = RECORD_ENTITY };
	struct result_row row;
	struct walk walk;
	uint32_t id;

	if (bytes.bytes < 2)
		return;
	id = (unsigned char)bytes.at[1];
	if (id > bytes.bytes - 2)
		return;
	record.source = text_of(kinds[bytes.at[0] & 3]);
	record.name = (struct text){ bytes.at + 2, id };
	record.pairs = (struct text){ bytes.at + 2 + id, bytes.bytes - 2 - id };
	/* Records are checked before they come this far. */
	walk = walk_over(record.pairs);
	while (!walk_is_done(&walk) && walk.fault == WALK_OK &&
	       record.attributes < RECORD_ATTRIBUTES_MAX) {
		walk_pair(&walk, RECORD_ENTITY_TEXT_BYTES_MAX);
		record.attributes++;
	}
	if (walk.fault != WALK_OK || !walk_is_done(&walk))
		return;
	if (!result_row_read(&record, &row))
		return;
	must(row.test.bytes > 0 && lies_in(row.test, record.pairs));
	must(lies_in(row.entry, record.pairs) &&
	     lies_in(row.info, record.pairs) &&
	     lies_in(row.file, record.pairs) && row.id.bytes >= 24);
}

static void
try_json(struct text bytes)
{
	struct json_relayout one, two;
	struct text first, second;

	json_relayout_init(&one);
	json_relayout_init(&two);
	if (json_relayout(&one, bytes, &first)) {
		must(json_relayout(&two, first, &second));
		must(text_equal(first, second));
	}
	json_relayout_clear(&one);
	json_relayout_clear(&two);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text bytes = { (const char *)data, (uint32_t)size };

	if (size > 65536)
		return 0;
	try_row(bytes);
	try_json(bytes);
	return 0;
}
