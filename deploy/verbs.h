/*
 * verbs - the verbs of the front command, and their help.
 * SPDX-License-Identifier: MIT
 */
#ifndef DEPLOY_VERBS_H
#define DEPLOY_VERBS_H

#include <stdio.h>

enum verb_run {
	VERB_PROGRAM, /* a program that has its own --help */
	VERB_WORD,    /* a verb of `program` */
	VERB_JOB,     /* an event */
	VERB_SCRIPT,  /* instance.sh */
};

struct verb {
	const char *word; /* NULL ends the table */
	enum verb_run run;
	const char *program; /* NULL: VERB_SCRIPT */
	const char *summary; /* one line */
	/* What its --help prints; NULL: the program knows. */
	const char *help;
};

extern const struct verb verbs[];

/* What poolscope --help prints. */
void verbs_help(FILE *to);
/* What poolscope VERB --help prints, on standard output. */
void verbs_help_of(const struct verb *verb);

#endif
