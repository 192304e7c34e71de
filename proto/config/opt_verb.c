/*
 * opt_verb - a program whose first word is a verb, each with its own options.
 * SPDX-License-Identifier: MIT
 */
#include "proto/config/opt_verb.h"

#include <stdio.h>
#include <string.h>

static int
words_of(const struct opt_verb *verb)
{
	return verb->second != NULL ? 2 : 1;
}

static bool
begins_with(const struct opt_verb *verb, int argc, char **argv)
{
	return argc > words_of(verb) && strcmp(argv[1], verb->word) == 0 &&
	       (verb->second == NULL || strcmp(argv[2], verb->second) == 0);
}

/* "verify, backup or models list" */
static void __attribute__((noreturn))
list_verbs(const struct opt_verb *verbs, uint32_t count)
{
	char list[512];
	size_t used = 0;

	for (uint32_t i = 0; i < count && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used,
		    "%s%s%s%s",
		    i == 0          ? ""
		    : i + 1 < count ? ", "
				    : " or ",
		    verbs[i].word, verbs[i].second != NULL ? " " : "",
		    verbs[i].second != NULL ? verbs[i].second : "");
	opt_usage("the first word is a verb: %s", list);
}

uint32_t
opt_verb_parse(const struct opt_program *program, const struct opt_verb *verbs,
    uint32_t count, int argc, char **argv, struct opt_operands *operands)
{
	struct opt_program of_verb = *program;
	uint32_t i = 0;
	int words;

	while (i < count && !begins_with(&verbs[i], argc, argv))
		i++;
	if (i == count) {
		of_verb.operands_min = 0;
		of_verb.operands_max = UINT32_MAX;
		opt_parse(&of_verb, argc, argv, operands);
		list_verbs(verbs, count);
	}
	words = words_of(&verbs[i]);
	of_verb.synopsis = verbs[i].synopsis;
	of_verb.summary = verbs[i].summary;
	of_verb.operands_min = verbs[i].operands_min;
	of_verb.operands_max = verbs[i].operands_max;
	of_verb.takes = verbs[i].takes;
	opt_parse(&of_verb, argc - words, argv + words, operands);
	return i;
}
