/*
 * scan - reads lines, words and numbers from a text of the kernel.
 * SPDX-License-Identifier: MIT
 */
#include "agents/proc/scan.h"

#include "proto/base/text.h"

bool
scan_number(struct text *line, uint64_t *number)
{
	const char *p = line->at, *end = p + line->bytes, *begin;
	uint64_t v = 0;
	bool good = true;

	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	for (begin = p; p < end && *p >= '0' && *p <= '9'; p++)
		/* Nineteen digits always fit. */
		if (p - begin < 19)
			v = v * 10 + (uint64_t)(*p - '0');
		else
			good &= !__builtin_mul_overflow(v, 10, &v) &&
				!__builtin_add_overflow(
				    v, (uint64_t)(*p - '0'), &v);
	good &= p > begin && (p == end || *p == ' ' || *p == '\t');
	/* A word that is not a number is skipped. */
	while (p < end && *p != ' ' && *p != '\t')
		p++;
	line->at = p;
	line->bytes = (uint32_t)(end - p);
	if (good)
		*number = v;
	return good;
}

bool
scan_numbers(struct text *line, uint64_t *const *numbers, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!scan_number(line, numbers[i]))
			return false;
	return true;
}

struct text
scan_until(struct text *rest, char c)
{
	const char *at =
	    rest->bytes > 0 ? memchr(rest->at, c, rest->bytes) : NULL;
	struct text front = *rest;

	if (at != NULL)
		front.bytes = (uint32_t)(at - front.at);
	rest->at += front.bytes + (at != NULL);
	rest->bytes -= front.bytes + (at != NULL);
	return front;
}

bool
scan_processor(struct text word, uint64_t *number)
{
	if (word.bytes <= 3 || memcmp(word.at, "cpu", 3) != 0)
		return false;
	word.at += 3;
	word.bytes -= 3;
	return scan_number(&word, number);
}

/* Most lines have no name that is wanted: that is seen by this. */
static unsigned char
mark_of(struct text name)
{
	return name.bytes == 0
		   ? 0
		   : (unsigned char)(name.bytes * 8 ^
				     (unsigned char)name.at[name.bytes - 1]);
}

bool
scan_fields(struct text file, const struct scan_field *fields, uint32_t count)
{
	bool marks[UINT8_MAX + 1] = { false }, found = false;
	struct text line;

	for (uint32_t i = 0; i < count; i++)
		marks[mark_of(fields[i].name)] = true;
	while (text_next_line(&file, &line)) {
		struct text word = text_next_word(&line);
		uint64_t number;

		for (uint32_t i = 0; marks[mark_of(word)] && i < count; i++)
			if (text_equal(word, fields[i].name) &&
			    scan_number(&line, &number)) {
				*fields[i].to =
				    scan_or_0(*fields[i].to) + number;
				found = true;
				break;
			}
	}
	return found;
}
