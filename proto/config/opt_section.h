/*
 * opt_section - options that are a section each: a name, and keys with values.
 *
 * Such an option is an OPT_LIST whose `choices` are the keys.  On the command
 * line a section is one text, "queue period=10s command=/opt/q.sh -v": the last
 * one of the keys takes the rest of the text, the others have no blanks.  The
 * configuration has
 *
 *     script "queue" { command = "/opt/q.sh -v"  period = "10s" }
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CONFIG_OPT_SECTION_H
#define PROTO_CONFIG_OPT_SECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/config/opt_table.h"

enum { OPT_SECTION_KEYS_MAX = 8 };

struct opt_section {
	struct text name;
	/* In the order of the option's keys; without `at`: not given. */
	struct text value[OPT_SECTION_KEYS_MAX];
};

bool opt_section_is(const struct opt *opt);

/* The key of this number, 0 and up; empty: there are no more. */
struct text opt_section_key(const struct opt *opt, uint32_t number);

/* Views of `word`.  -1: a sentence. */
int opt_section_parse(struct opt_section *section, const struct opt *opt,
    const char *word, struct err *err);
/* The text of a section, which the caller frees. */
char *opt_section_word(
    const struct opt_section *section, const struct opt *opt);

#endif
