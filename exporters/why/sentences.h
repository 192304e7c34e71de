/*
 * why_sentences - what is reported of a pool, a node, a job or a run.
 *
 * A sentence has its text, the numbers in it, and its proof: the question that
 * gives these numbers, as a command and as an address of the page.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_WHY_SENTENCES_H
#define EXPORTERS_WHY_SENTENCES_H

#include <stdint.h>
#include <stdio.h>

#include "proto/base/text.h"

/* What it is about. */
enum why_about {
	WHY_START,   /* is it ready, since when, how long did it take? */
	WHY_PATH,    /* what did that wait for? */
	WHY_NODES,   /* which nodes need attention? */
	WHY_SLOW,    /* which were slower, in what, and why? */
	WHY_HELP,    /* what would have been earlier? */
	WHY_RUNS,    /* test runs and jobs */
	WHY_LOST,    /* records */
	WHY_UNTOLD,  /* what is not known, and why not */
	WHY_RECORDS, /* what there is, if nothing else is known */
	WHY_ABOUTS
};
/* "start", "path", "nodes", "slow", "help", "runs", "lost", "untold",
 * "records" */
extern const char *const why_about_words[WHY_ABOUTS];

struct why_sentence {
	enum why_about about;
	char *text;
	/* Those that it is about; empty: none. */
	char *node, *phase, *key;
	char
	    *cause; /* a clause; NULL: there is none, or nobody looked for it */
	int64_t time_ns, usual_ns; /* ANSWER_NO_NS: it has none */
	char *command, *address;   /* its proof; NULL: it needs none */
};

/* Zeroed it is empty. */
struct why_sentences {
	struct why_sentence *at; /* what matters most comes first */
	uint32_t count, room;
	/* Of all commands and addresses. */
	struct text partition;
	const char *options; /* " --start 2026-11-28T07:15:50Z", or "" */
	const char *time;    /* "?start=2026-11-28T07%3A15%3A50Z", or "" */

	FILE *file; /* of the text that is being written */
	char *text;
	size_t bytes;
};

/* Write a sentence to the stream that is returned; then end it.  One that is
 * empty is none. */
FILE *why_begin(struct why_sentences *all);
struct why_proof {
	const char *question;      /* "slow": of poolscope stats; NULL: none */
	const char *more;          /* further options of it, or NULL */
	const char *view;          /* of the page: "map"; NULL: none */
	struct text item;          /* of views "node" and "runs": which */
	const char *cause;         /* a clause, or NULL */
	struct text phase, key;    /* what the sentence is about */
	int64_t time_ns, usual_ns; /* its numbers */
};
void why_end(struct why_sentences *all, enum why_about about,
    const struct why_proof *proof);
void why_clear(struct why_sentences *all);

/* A name as it is read, whole. */
void why_put_name(FILE *file, struct text name);
/* The same as a word of a command line. */
void why_put_word(FILE *file, struct text word);

/* All of it for somebody who has no more than a terminal: at most
 * WHY_LINES of WHY_COLUMNS characters.  Sentences come first, then their
 * commands, as long as there is room; the last line says how many are left out.
 */
enum { WHY_LINES = 24, WHY_COLUMNS = 80 };
void why_print(FILE *file, const struct why_sentences *all);

#endif
