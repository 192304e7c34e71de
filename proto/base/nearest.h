/*
 * nearest - which words a user may have meant.
 *
 * The distance of two words is the number of characters to insert, delete,
 * replace or swap with their neighbour (optimal string alignment), without
 * regard to case; a word that begins with what was typed is near, too.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_BASE_NEAREST_H
#define PROTO_BASE_NEAREST_H

#include <stddef.h>

enum {
	NEAREST_MAX = 3,         /* words that are kept */
	NEAREST_WORD_BYTES = 64, /* longer words are near to nothing */
};

struct nearest {
	const char *typed;
	struct {
		char word[NEAREST_WORD_BYTES];
		unsigned distance;
	} at[NEAREST_MAX]; /* the nearest first; of equal ones the earlier */
	unsigned count;
};

/* `typed` must outlive the search. */
void nearest_begin(struct nearest *nearest, const char *typed);
/* Offer one of the words that exist; it is copied if it is near. */
void nearest_offer(struct nearest *nearest, const char *word);

/* Write "; did you mean PREFIXa, PREFIXb or PREFIXc?", or "" when nothing is
 * near.  Returns `to`. */
const char *nearest_question(const struct nearest *nearest, const char *prefix,
    char *to, size_t to_bytes);

#endif
