/*
 * opt_section - options that are a section each: a name, and keys with values.
 * SPDX-License-Identifier: MIT
 */
#include "proto/config/opt_section.h"

#include <stdlib.h>

#include "proto/base/memory.h"

enum { SHOWN_BYTES = 64 };

bool
opt_section_is(const struct opt *opt)
{
	return opt->type == OPT_LIST && opt->choices != NULL;
}

struct text
opt_section_key(const struct opt *opt, uint32_t number)
{
	struct text rest = text_of(opt->choices);

	for (; number > 0; number--) {
		if (text_before(rest, '|').bytes == rest.bytes)
			return (struct text){ NULL, 0 };
		rest = text_after(rest, '|');
	}
	return text_before(rest, '|');
}

static bool
is_last(const struct opt *opt, uint32_t number)
{
	return opt_section_key(opt, number + 1).bytes == 0;
}

/* The value that `pair` has for the key, if it is this one's. */
static bool
is_of(struct text pair, struct text key, struct text *value)
{
	if (!text_equal(text_before(pair, '='), key) || pair.bytes == key.bytes)
		return false;
	*value = text_after(pair, '=');
	return true;
}

static int
take(struct opt_section *section, const struct opt *opt, struct text *rest,
    struct err *err)
{
	struct text from = *rest, value, word = text_next_word(rest);
	char shown[SHOWN_BYTES];

	for (uint32_t i = 0; opt_section_key(opt, i).bytes > 0; i++) {
		if (!is_of(word, opt_section_key(opt, i), &value))
			continue;
		if (section->value[i].at != NULL)
			return err_set(err, "%.*s is given twice",
			    (int)word.bytes - (int)value.bytes - 1, word.at);
		if (is_last(opt, i)) {
			value = text_trim(text_after(from, '='));
			rest->bytes = 0;
		}
		section->value[i] = value;
		return 0;
	}
	return err_set(err, "'%s' is not KEY=VALUE, with one of the keys %s",
	    text_quote(shown, sizeof(shown), word), opt->choices);
}

int
opt_section_parse(struct opt_section *section, const struct opt *opt,
    const char *word, struct err *err)
{
	struct text rest = text_of(word);

	*section = (struct opt_section){ .name = text_next_word(&rest) };
	if (section->name.bytes == 0 ||
	    memchr(section->name.at, '=', section->name.bytes) != NULL)
		return err_set(err, "begins with a name: NAME %.*s=...",
		    (int)opt_section_key(opt, 0).bytes,
		    opt_section_key(opt, 0).at);
	for (rest = text_trim(rest); rest.bytes > 0; rest = text_trim(rest))
		if (take(section, opt, &rest, err) != 0)
			return err_prefix(err, "%.*s", (int)section->name.bytes,
			    section->name.at);
	return 0;
}

char *
opt_section_word(const struct opt_section *section, const struct opt *opt)
{
	size_t bytes;
	char *at;
	FILE *file = memory_stream(&at, &bytes);

	fprintf(file, "%.*s", (int)section->name.bytes, section->name.at);
	for (uint32_t i = 0; opt_section_key(opt, i).bytes > 0; i++)
		if (section->value[i].at != NULL)
			fprintf(file, " %.*s=%.*s",
			    (int)opt_section_key(opt, i).bytes,
			    opt_section_key(opt, i).at,
			    (int)section->value[i].bytes, section->value[i].at);
	memory_stream_end(&file);
	return at;
}
