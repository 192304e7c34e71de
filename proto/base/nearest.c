/*
 * nearest - which words a user may have meant.
 * SPDX-License-Identifier: MIT
 */
#include "proto/base/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool
is_same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static unsigned
least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Both are shorter than NEAREST_WORD_BYTES. */
static unsigned
distance_of(const char *a, const char *b)
{
	unsigned rows[3][NEAREST_WORD_BYTES + 1];
	unsigned *before = rows[0], *last = rows[1], *now = rows[2], *reused;
	size_t a_bytes = strlen(a), b_bytes = strlen(b);

	for (size_t j = 0; j <= b_bytes; j++)
		last[j] = (unsigned)j;
	for (size_t i = 1; i <= a_bytes; i++) {
		now[0] = (unsigned)i;
		for (size_t j = 1; j <= b_bytes; j++) {
			unsigned changed = !is_same(a[i - 1], b[j - 1]);

			now[j] = least(least(last[j], now[j - 1]) + 1,
			    last[j - 1] + changed);
			if (i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) &&
			    is_same(a[i - 2], b[j - 1]))
				now[j] = least(now[j], before[j - 2] + 1);
		}
		reused = before;
		before = last;
		last = now;
		now = reused;
	}
	return last[b_bytes];
}

static bool
begins_with(const char *word, const char *start, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (!is_same(word[i], start[i]))
			return false;
	return true;
}

void
nearest_begin(struct nearest *nearest, const char *typed)
{
	*nearest = (struct nearest){ .typed = typed };
}

void
nearest_offer(struct nearest *nearest, const char *word)
{
	size_t bytes = strlen(nearest->typed), word_bytes = strlen(word);
	unsigned distance, i = nearest->count;
	const char *name = strchr(word, ':');

	if (bytes == 0 || bytes >= NEAREST_WORD_BYTES ||
	    word_bytes >= NEAREST_WORD_BYTES)
		return;
	distance = distance_of(nearest->typed, word);
	/* SOURCE:NAME, of which only the name was typed. */
	if (name != NULL && strchr(nearest->typed, ':') == NULL)
		distance =
		    least(distance, distance_of(nearest->typed, name + 1));
	/* An error in three characters, and one in any word. */
	if (distance > 1 + bytes / 3 || distance >= bytes) {
		if (bytes < 2 || bytes > word_bytes ||
		    !begins_with(word, nearest->typed, bytes))
			return;
		distance = NEAREST_WORD_BYTES;
	}
	for (unsigned j = 0; j < nearest->count; j++)
		if (strcmp(nearest->at[j].word, word) == 0)
			return;
	while (i > 0 && nearest->at[i - 1].distance > distance)
		i--;
	if (i == NEAREST_MAX)
		return;
	if (nearest->count < NEAREST_MAX)
		nearest->count++;
	memmove(&nearest->at[i + 1], &nearest->at[i],
	    (nearest->count - 1 - i) * sizeof(nearest->at[0]));
	memcpy(nearest->at[i].word, word, word_bytes + 1);
	nearest->at[i].distance = distance;
}

const char *
nearest_question(const struct nearest *nearest, const char *prefix, char *to,
    size_t to_bytes)
{
	size_t used = 0;

	to[0] = '\0';
	for (unsigned i = 0; i < nearest->count && used < to_bytes; i++)
		used += (size_t)snprintf(to + used, to_bytes - used, "%s%s%s%s",
		    i == 0                   ? "; did you mean "
		    : i + 1 < nearest->count ? ", "
					     : " or ",
		    prefix, nearest->at[i].word,
		    i + 1 == nearest->count ? "?" : "");
	return to;
}
