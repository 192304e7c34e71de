/*
 * definition - a group, and the lists of two definitions, a line each: whatever
 * was defined holds, and a refusal is a sentence that can be shown.
 * SPDX-License-Identifier: MIT
 */
#include "proto/metric/definition.h"

#include "proto/base/text.h"
#include "tests/fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct definition
take(struct text *rest)
{
	struct definition definition = { { "", 0 }, { "", 0 }, { "", 0 } };

	(void)(text_next_line(rest, &definition.names) &&
	       text_next_line(rest, &definition.units) &&
	       text_next_line(rest, &definition.types));
	return definition;
}

static enum definition_change
compare(struct text group, const struct definition *held,
    const struct definition *fresh)
{
	struct err err = { 0 };
	enum definition_change change =
	    definition_compare(group, held, fresh, DEFINITION_BY_AGENT, &err);

	MUST((change == DEFINITION_REFUSED) == (err.text[0] != '\0'));
	MUST(change != DEFINITION_REFUSED ||
	     text_check_name(text_of(err.text)) == TEXT_OK);
	return change;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct definition none = { { "", 0 }, { "", 0 },
		{ "", 0 } };
	struct text rest = { (const char *)data, (uint32_t)size }, group;
	struct definition held, fresh;

	if (size > 1 << 16 || !text_next_line(&rest, &group) ||
	    group.bytes > NAME_BYTES_MAX)
		return 0;
	held = take(&rest);
	fresh = take(&rest);
	/* Only what may be defined is held. */
	if (compare(group, &none, &held) != DEFINITION_GROWN)
		held = none;
	MUST(compare(group, &held, &held) == DEFINITION_KEPT);
	if (compare(group, &held, &fresh) != DEFINITION_GROWN)
		return 0;
	MUST(compare(group, &fresh, &fresh) == DEFINITION_KEPT);
	MUST(held.names.bytes == 0 ||
	     compare(group, &fresh, &held) == DEFINITION_KEPT);
	return 0;
}
