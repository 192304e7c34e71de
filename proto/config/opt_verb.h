/*
 * opt_verb - a program whose first word is a verb, each with its own options.
 *
 * The tables of the program have the options of all verbs: --help without a
 * verb, completion and the configuration show them all.  The command line of a
 * verb accepts only those in `takes`, and its --help shows only these.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CONFIG_OPT_VERB_H
#define PROTO_CONFIG_OPT_VERB_H

#include "proto/config/opt.h"

struct opt_verb {
	const char *word, *second; /* "models", "list"; NULL: one word */
	const char *synopsis;      /* "backup TO [options]" */
	const char *summary;
	uint32_t operands_min, operands_max; /* words after the verb */
	const char *const *takes;            /* names of options */
	const char *examples;                /* as those of a program */
};

/* Find the verb at argv[1], parse the rest, and return the number of the verb.
 * Without a verb, parse the program's own options as opt_parse does, or print
 * the verbs and exit with status 2. */
uint32_t opt_verb_parse(const struct opt_program *program,
    const struct opt_verb *verbs, uint32_t count, int argc, char **argv,
    struct opt_operands *operands);

/* Exit with status 2 unless the first of the words is one of the program's
 * topics, the others are as many as its synopsis has, and it takes all options
 * of the command line. */
void opt_topic_check(
    const struct opt_program *program, uint32_t count, char **words);

#endif
