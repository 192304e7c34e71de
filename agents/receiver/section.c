/*
 * section - what options that are sections (opt_section.h) have in common here.
 * SPDX-License-Identifier: MIT
 */
#include "agents/receiver/section.h"

#include <assert.h>
#include <string.h>

#include "agents/receiver/settings.h"
#include "proto/os/clock.h"

enum { SHOWN_BYTES = 80 };

#define LEAST_NS (NS_PER_SECOND / 10)

const struct opt *
section_option(const char *name)
{
	const struct opt *opt = receiver_settings_table;

	while (strcmp(opt->name, name) != 0)
		opt++;
	return opt;
}

static int
check_name(struct text name, const char *option, struct err *err)
{
	char shown[SHOWN_BYTES];

	for (uint32_t i = 0; i < name.bytes; i++)
		if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXY"
			   "Z0123456789_.-",
			name.at[i]) == NULL ||
		    name.at[i] == '\0' || name.bytes > SECTION_NAME_BYTES)
			return err_set_option(err, option,
			    "the name '%s' is not of at most %d letters, "
			    "digits and _.-",
			    text_quote(shown, sizeof(shown), name),
			    SECTION_NAME_BYTES);
	return 0;
}

int
section_check_names(
    const struct opt_list *list, const char *option, struct err *err)
{
	struct opt_section one, other;

	for (uint32_t i = 0; i < list->count; i++) {
		if (opt_section_parse(
			&one, section_option(option), list->at[i], err) != 0)
			return err_prefix_option(err, option);
		if (check_name(one.name, option, err) != 0)
			return -1;
		for (uint32_t j = 0; j < i; j++)
			if (opt_section_parse(&other, section_option(option),
				list->at[j], err) == 0 &&
			    text_equal(one.name, other.name))
				return err_set_option(err, option,
				    "%.*s is given twice", (int)one.name.bytes,
				    one.name.at);
	}
	return 0;
}

int
section_duration(const struct opt_section *section, const struct opt *opt,
    uint32_t number, int64_t *ns, struct err *err)
{
	struct text key = opt_section_key(opt, number);

	if (section->value[number].at == NULL)
		return 0;
	if (clock_parse_duration(section->value[number], ns, err) == 0 &&
	    *ns < LEAST_NS)
		err_set(err, "must be at least 100ms");
	return err->code == ERR_NONE
		   ? 0
		   : err_prefix(err, "%.*s", (int)key.bytes, key.at);
}
