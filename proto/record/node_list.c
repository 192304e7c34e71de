/*
 * node_list - lists of nodes, as people and Slurm write them.
 * SPDX-License-Identifier: MIT
 */
#include "proto/record/node_list.h"

#include <stdio.h>

enum { DIGITS_MAX = 9 };

/* ---- parts ---- */

/* 7 or 001-031; the numbers have at least `width` digits. */
struct range {
	uint32_t first, last, width;
};

static bool
take_number(struct text *rest, uint32_t *number, uint32_t *digits)
{
	*number = *digits = 0;
	while (*digits < rest->bytes && rest->at[*digits] >= '0' &&
	       rest->at[*digits] <= '9' && *digits < DIGITS_MAX)
		*number =
		    *number * 10 + (uint32_t)(rest->at[(*digits)++] - '0');
	rest->at += *digits;
	rest->bytes -= *digits;
	return *digits > 0;
}

static bool
take_char(struct text *rest, char c)
{
	if (rest->bytes == 0 || *rest->at != c)
		return false;
	rest->at++;
	rest->bytes--;
	return true;
}

/* A range of a set, and the comma or bracket behind it; false: it is none. */
static bool
take_range(struct text *rest, struct range *range, bool *is_last)
{
	uint32_t digits;

	if (!take_number(rest, &range->first, &range->width))
		return false;
	range->last = range->first;
	if (take_char(rest, '-') && !take_number(rest, &range->last, &digits))
		return false;
	*is_last = take_char(rest, ']');
	return range->first <= range->last &&
	       (*is_last || take_char(rest, ','));
}

/* How many numbers a set has; `rest` begins behind its bracket and ends behind
 * the other one.  0: it is no set. */
static uint64_t
count_set(struct text *rest)
{
	struct range range;
	uint64_t count = 0;
	bool is_last = false;

	while (!is_last) {
		if (!take_range(rest, &range, &is_last))
			return 0;
		count += range.last - range.first + 1;
	}
	return count;
}

/* A character of an item, the opening bracket of a set, or a wild card. */
enum part { PART_END, PART_CHAR, PART_SET, PART_ONE, PART_ANY };

static enum part
take_part(struct text *rest, char *c)
{
	if (rest->bytes == 0)
		return PART_END;
	*c = *rest->at;
	rest->at++;
	rest->bytes--;
	switch (*c) {
	case '[': return PART_SET;
	case '?': return PART_ONE;
	case '*': return PART_ANY;
	case '\\':
		if (rest->bytes == 0)
			return PART_CHAR;
		*c = *rest->at;
		rest->at++;
		rest->bytes--;
		return PART_CHAR;
	default: return PART_CHAR;
	}
}

/* ---- items ---- */

/* Commas in sets do not end an item. */
static uint32_t
item_bytes(struct text rest)
{
	struct text begin = rest;
	bool in_set = false;
	char c;

	while (rest.bytes > 0 && (in_set || *rest.at != ',')) {
		if (in_set) {
			in_set = *rest.at != ']';
			rest.at++;
			rest.bytes--;
		} else {
			in_set = take_part(&rest, &c) == PART_SET;
		}
	}
	return (uint32_t)(rest.at - begin.at);
}

static void
trim(struct text *item)
{
	while (item->bytes > 0 && *item->at == ' ') {
		item->at++;
		item->bytes--;
	}
	while (item->bytes > 0 && item->at[item->bytes - 1] == ' ' &&
	       (item->bytes == 1 || item->at[item->bytes - 2] != '\\'))
		item->bytes--;
}

bool
node_list_next(struct text *rest, struct text *item)
{
	if (rest->bytes == 0)
		return false;
	*item = (struct text){ rest->at, item_bytes(*rest) };
	rest->at += item->bytes;
	rest->bytes -= item->bytes;
	take_char(rest, ',');
	trim(item);
	return true;
}

/* The number of names, whether there are wild cards, and the length of the
 * longest name; -1: a set is none. */
static int
measure(struct text item, uint64_t *names, bool *wild, uint32_t *longest)
{
	enum part part;
	char c;

	*names = 1;
	*wild = false;
	*longest = 0;
	while ((part = take_part(&item, &c)) != PART_END) {
		uint64_t count;

		*longest += part == PART_SET ? DIGITS_MAX : part != PART_ANY;
		*wild = *wild || part == PART_ONE || part == PART_ANY;
		if (part != PART_SET)
			continue;
		count = count_set(&item);
		if (count == 0)
			return -1;
		*names = *names > NODE_LIST_NAMES_MAX ? *names : *names * count;
	}
	return 0;
}

static int
check_item(struct text item, uint64_t *names, struct err *err)
{
	uint64_t more;
	uint32_t longest;
	char shown[80];
	bool wild;

	text_quote(shown, sizeof(shown), item);
	if (item.bytes == 0)
		return err_set(err, "a name is empty: a comma is too many");
	if (measure(item, &more, &wild, &longest) != 0)
		return err_set(err,
		    "'%s': numbers and ranges are expected between [ and ], "
		    "such as cn[001-031,40]",
		    shown);
	if (longest > NAME_BYTES_MAX)
		return err_set(err, "'%s' is longer than a name, %d bytes",
		    shown, NAME_BYTES_MAX);
	*names += more;
	if (*names > NODE_LIST_NAMES_MAX)
		return err_set(err,
		    "'%s': a list may name %d nodes at most; give fewer, or a "
		    "pattern such as cn*",
		    shown, NODE_LIST_NAMES_MAX);
	return 0;
}

int
node_list_check(struct text list, struct err *err)
{
	struct text rest = list, item;
	uint64_t names = 0;

	if (list.bytes > NODE_LIST_BYTES_MAX)
		return err_set(err,
		    "the list has more than %d bytes; write ranges, such as "
		    "cn[001-031], or patterns, such as cn*",
		    NODE_LIST_BYTES_MAX);
	while (node_list_next(&rest, &item))
		if (check_item(item, &names, err) != 0)
			return -1;
	if (list.bytes > 0 && list.at[list.bytes - 1] == ',' &&
	    (list.bytes == 1 || list.at[list.bytes - 2] != '\\'))
		return err_set(err, "a name is empty: a comma is too many");
	return 0;
}

/* ---- matching ---- */

/* Positions in the name up to which the item can match: a set of numbers may
 * end at several of them. */
struct places {
	bool at[NAME_BYTES_MAX + 1];
};

/* Is it one of the numbers of the range, as the range writes it? */
static bool
has_number(const struct range *range, const char *digits, uint32_t count,
    uint32_t number)
{
	return number >= range->first && number <= range->last &&
	       (count == range->width ||
		   (count > range->width && digits[0] != '0'));
}

/* From place `i` over each number that the ranges have. */
static void
step_set(struct text set, struct text node, uint32_t i, struct places *next)
{
	struct range range;
	bool is_last = false;

	while (!is_last && take_range(&set, &range, &is_last)) {
		uint32_t number = 0;

		for (uint32_t n = 1; n <= DIGITS_MAX && i + n <= node.bytes;
		     n++) {
			char c = node.at[i + n - 1];

			if (c < '0' || c > '9' || number > range.last)
				break;
			number = number * 10 + (uint32_t)(c - '0');
			if (has_number(&range, node.at + i, n, number))
				next->at[i + n] = true;
		}
	}
}

static void
step(enum part part, char c, struct text set, struct text node, uint32_t i,
    struct places *next)
{
	struct text rest = { node.at + i, node.bytes - i };
	uint32_t bytes, character;

	switch (part) {
	case PART_CHAR:
		if (rest.bytes > 0 && *rest.at == c)
			next->at[i + 1] = true;
		break;
	case PART_SET: step_set(set, node, i, next); break;
	case PART_ONE:
		bytes = text_character(rest, &character);
		if (rest.bytes > 0)
			next->at[i + (bytes > 0 ? bytes : 1)] = true;
		break;
	case PART_ANY: memset(&next->at[i], 1, rest.bytes + 1); break;
	case PART_END: break;
	}
}

static bool
match_parts(struct text item, struct text node)
{
	struct places places[2] = { { { true } } }, *now = places;
	enum part part;
	char c;

	while ((part = take_part(&item, &c)) != PART_END) {
		struct places *next = &places[now == places];
		bool some = false;

		memset(next, 0, sizeof(*next));
		for (uint32_t i = 0; i <= node.bytes; i++) {
			if (!now->at[i])
				continue;
			some = true;
			step(part, c, item, node, i, next);
			if (part == PART_ANY)
				break; /* all that follow */
		}
		if (!some || (part == PART_SET && count_set(&item) == 0))
			return false;
		now = next;
	}
	return now->at[node.bytes];
}

static bool
match_item(struct text item, struct text node)
{
	if (item.bytes > 0 && node.bytes > 0 && *item.at != *node.at &&
	    strchr("[?*\\", *item.at) == NULL)
		return false;
	if (memchr(item.at, '[', item.bytes) == NULL &&
	    memchr(item.at, '\\', item.bytes) == NULL)
		return text_match(item, node);
	return match_parts(item, node);
}

bool
node_list_match(struct text list, struct text node)
{
	struct text rest = list, item;

	if (list.bytes == 0)
		return true;
	if (node.bytes > NAME_BYTES_MAX)
		return false;
	while (node_list_next(&rest, &item))
		if (match_item(item, node))
			return true;
	return false;
}

/* ---- names ---- */

uint32_t
node_list_count(struct text item)
{
	uint64_t names;
	uint32_t longest;
	bool wild;

	return measure(item, &names, &wild, &longest) != 0 || wild
		   ? 0
		   : (uint32_t)names;
}

/* Write number `index` of a set; returns its length. */
static uint32_t
put_number(struct text set, uint32_t index, char *to)
{
	char digits[DIGITS_MAX + 1];
	struct range range;
	bool is_last = false;

	while (!is_last && take_range(&set, &range, &is_last)) {
		uint32_t count = range.last - range.first + 1;
		int n;

		if (index >= count) {
			index -= count;
			continue;
		}
		n = snprintf(digits, sizeof(digits), "%0*u", (int)range.width,
		    range.first + index);
		memcpy(to, digits, (size_t)n);
		return (uint32_t)n;
	}
	return 0;
}

uint32_t
node_list_name(struct text item, uint32_t index, char to[static NAME_BYTES_MAX])
{
	uint32_t names = node_list_count(item), bytes = 0;
	enum part part;
	char c;

	while (bytes + DIGITS_MAX <= NAME_BYTES_MAX &&
	       (part = take_part(&item, &c)) != PART_END) {
		struct text set = item;

		if (part != PART_SET) {
			to[bytes++] = c;
			continue;
		}
		/* The last set counts fastest. */
		names /= (uint32_t)count_set(&item);
		bytes += put_number(set, index / names, to + bytes);
		index %= names;
	}
	while (bytes < NAME_BYTES_MAX && take_part(&item, &c) == PART_CHAR)
		to[bytes++] = c;
	return bytes;
}

bool
node_list_is_name(
    struct text list, char to[static NAME_BYTES_MAX], struct text *name)
{
	struct text rest = list, item;
	enum part part;
	char c;

	if (!node_list_next(&rest, &item) || rest.bytes > 0)
		return false;
	*name = (struct text){ to, 0 };
	while ((part = take_part(&item, &c)) == PART_CHAR &&
	       name->bytes < NAME_BYTES_MAX)
		to[name->bytes++] = c;
	return part == PART_END;
}

struct text
node_list_quote(char *to, struct text name, bool pattern)
{
	uint32_t bytes = 0;

	for (uint32_t i = 0; i < name.bytes; i++) {
		bool blank =
		    name.at[i] == ' ' && (i == 0 || i + 1 == name.bytes);

		if (blank ||
		    strchr(pattern ? ",[]\\" : ",[]\\*?", name.at[i]) != NULL)
			to[bytes++] = '\\';
		to[bytes++] = name.at[i];
	}
	return (struct text){ to, bytes };
}
