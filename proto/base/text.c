/*
 * text - check, quote and match text.
 * SPDX-License-Identifier: MIT
 */
#include "proto/base/text.h"

#include <stdio.h>

int
text_compare(struct text a, struct text b)
{
	uint32_t n = a.bytes < b.bytes ? a.bytes : b.bytes;
	int order = n == 0 ? 0 : memcmp(a.at, b.at, n);

	if (order != 0)
		return order;
	return a.bytes < b.bytes ? -1 : a.bytes > b.bytes;
}

/* Length of the character at `p` (RFC 3629, table 3-7 of Unicode), or 0 if it
 * is not valid. */
static uint32_t
character_bytes(const unsigned char *p, uint32_t left)
{
	unsigned char low = 0x80, high = 0xBF;
	uint32_t n;

	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xC2 || p[0] > 0xF4)
		return 0;
	n = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
	if (n > left)
		return 0;
	if (p[0] == 0xE0)
		low = 0xA0; /* overlong forms */
	else if (p[0] == 0xED)
		high = 0x9F; /* surrogates */
	else if (p[0] == 0xF0)
		low = 0x90; /* overlong forms */
	else if (p[0] == 0xF4)
		high = 0x8F; /* beyond U+10FFFF */
	if (p[1] < low || p[1] > high)
		return 0;
	for (uint32_t i = 2; i < n; i++)
		if (p[i] < 0x80 || p[i] > 0xBF)
			return 0;
	return n;
}

uint32_t
text_character(struct text t, uint32_t *character)
{
	const unsigned char *p = (const unsigned char *)t.at;
	uint32_t n = t.bytes > 0 ? character_bytes(p, t.bytes) : 0;

	if (n == 0)
		return 0;
	*character = n == 1 ? p[0] : p[0] & (0x7Fu >> n);
	for (uint32_t i = 1; i < n; i++)
		*character = *character << 6 | (p[i] & 0x3F);
	return n;
}

uint32_t
text_put_character(char *to, uint32_t character)
{
	static const unsigned char lead[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
	uint32_t n = character < 0x80      ? 1
		     : character < 0x800   ? 2
		     : character < 0x10000 ? 3
					   : 4;

	for (uint32_t i = n - 1; i > 0; i--, character >>= 6)
		to[i] = (char)(0x80 | (character & 0x3F));
	to[0] = (char)(lead[n] | character);
	return n;
}

/* Number of leading bytes that are printable ASCII, checked eight at a time. */
static uint32_t
printable_ascii_bytes(const unsigned char *p, uint32_t bytes)
{
	uint32_t i = 0;

	for (; i + 8 <= bytes; i += 8) {
		uint64_t w, below, del;

		memcpy(&w, p + i, 8);
		/* High bits: the byte, or an earlier one, is < 0x20 / 0x7F. */
		below = (w - UINT64_C(0x2020202020202020)) & ~w;
		del = w ^ UINT64_C(0x7F7F7F7F7F7F7F7F);
		del = (del - UINT64_C(0x0101010101010101)) & ~del;
		if ((w | below | del) & UINT64_C(0x8080808080808080))
			return i;
	}
	while (i < bytes && p[i] >= 0x20 && p[i] < 0x7F)
		i++;
	return i;
}

bool
text_is_utf8(struct text t)
{
	const unsigned char *p = (const unsigned char *)t.at;
	uint32_t i = printable_ascii_bytes(p, t.bytes);

	while (i < t.bytes) {
		uint32_t n = character_bytes(p + i, t.bytes - i);

		if (n == 0)
			return false;
		i += n;
	}
	return true;
}

enum text_fault
text_check_name(struct text t)
{
	const unsigned char *p = (const unsigned char *)t.at;
	uint32_t i;

	if (t.bytes == 0)
		return TEXT_EMPTY;
	if (t.bytes > NAME_BYTES_MAX)
		return TEXT_TOO_LONG;
	i = printable_ascii_bytes(p, t.bytes);
	while (i < t.bytes) {
		uint32_t n = character_bytes(p + i, t.bytes - i);

		if (n == 0)
			return TEXT_NOT_UTF8;
		if (p[i] < 0x20 || p[i] == 0x7F ||
		    (p[i] == 0xC2 && p[i + 1] < 0xA0))
			return TEXT_CONTROL;
		i += n;
	}
	return TEXT_OK;
}

const char *
text_fault_words(enum text_fault fault)
{
	switch (fault) {
	case TEXT_OK: return "is good";
	case TEXT_EMPTY: return "is empty";
	case TEXT_TOO_LONG: return "is longer than 255 bytes";
	case TEXT_NOT_UTF8: return "is not UTF-8";
	case TEXT_CONTROL: return "contains a control character";
	}
	return "is wrong";
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct text
text_trim(struct text t)
{
	while (t.bytes > 0 && is_blank(*t.at)) {
		t.at++;
		t.bytes--;
	}
	while (t.bytes > 0 && is_blank(t.at[t.bytes - 1]))
		t.bytes--;
	return t;
}

struct text
text_before(struct text t, char c)
{
	const char *at = t.bytes > 0 ? memchr(t.at, c, t.bytes) : NULL;

	if (at != NULL)
		t.bytes = (uint32_t)(at - t.at);
	return t;
}

struct text
text_after(struct text t, char c)
{
	uint32_t front = text_before(t, c).bytes + 1;

	return front > t.bytes ? t
			       : (struct text){ t.at + front, t.bytes - front };
}

bool
text_next_line(struct text *rest, struct text *line)
{
	const char *end;

	if (rest->bytes == 0)
		return false;
	end = memchr(rest->at, '\n', rest->bytes);
	*line = (struct text){ rest->at,
		end != NULL ? (uint32_t)(end - rest->at) : rest->bytes };
	rest->at += line->bytes + (end != NULL);
	rest->bytes -= line->bytes + (end != NULL);
	return true;
}

struct text
text_next_word(struct text *rest)
{
	struct text word;

	while (rest->bytes > 0 && (*rest->at == ' ' || *rest->at == '\t')) {
		rest->at++;
		rest->bytes--;
	}
	word = (struct text){ rest->at, 0 };
	while (rest->bytes > 0 && *rest->at != ' ' && *rest->at != '\t') {
		rest->at++;
		rest->bytes--;
		word.bytes++;
	}
	return word;
}

struct text
text_next_cell(struct text *rest)
{
	const char *tab =
	    rest->bytes > 0 ? memchr(rest->at, '\t', rest->bytes) : NULL;
	struct text cell = *rest;

	if (tab == NULL) {
		rest->bytes = 0;
		return cell;
	}
	cell.bytes = (uint32_t)(tab - rest->at);
	rest->at = tab + 1;
	rest->bytes -= cell.bytes + 1;
	return cell;
}

char *
text_hex(char *to, const void *from, uint32_t bytes)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *at = from;

	for (uint32_t i = 0; i < bytes; i++) {
		*to++ = digits[at[i] >> 4];
		*to++ = digits[at[i] & 15];
	}
	return to;
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool
text_unhex(unsigned char *to, uint32_t bytes, struct text digits)
{
	if (digits.bytes != 2 * bytes)
		return false;
	for (uint32_t i = 0; i < bytes; i++) {
		int high = hex_digit(digits.at[2 * i]),
		    low = hex_digit(digits.at[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		to[i] = (unsigned char)(16 * high + low);
	}
	return true;
}

bool
text_is_shown(uint32_t character)
{
	/* Without columns or with an effect on others: Unicode's categories
	 * Cc, Cf, Mn, Me, Zl, Zp, fillers, surrogates and private ones. */
	static const uint16_t not_shown[][2] = { { 0x0000, 0x001F },
		{ 0x007F, 0x009F }, { 0x00AD, 0x00AD }, { 0x0300, 0x036F },
		{ 0x0483, 0x0489 }, { 0x0591, 0x05BD }, { 0x05BF, 0x05BF },
		{ 0x05C1, 0x05C7 }, { 0x0600, 0x0605 }, { 0x0610, 0x061A },
		{ 0x061C, 0x061C }, { 0x064B, 0x065F }, { 0x0670, 0x0670 },
		{ 0x06D6, 0x06DD }, { 0x06DF, 0x06E4 }, { 0x06E7, 0x06E8 },
		{ 0x06EA, 0x06ED }, { 0x070F, 0x0711 }, { 0x0730, 0x074A },
		{ 0x07A6, 0x07B0 }, { 0x07EB, 0x07F3 }, { 0x0816, 0x082D },
		{ 0x0859, 0x085B }, { 0x0890, 0x0891 }, { 0x0898, 0x0902 },
		{ 0x093A, 0x093A }, { 0x093C, 0x093C }, { 0x0941, 0x0948 },
		{ 0x094D, 0x094D }, { 0x0951, 0x0957 }, { 0x0E31, 0x0E31 },
		{ 0x0E34, 0x0E3A }, { 0x0E47, 0x0E4E }, { 0x115F, 0x11FF },
		{ 0x135D, 0x135F }, { 0x17B4, 0x17B5 }, { 0x180B, 0x180F },
		{ 0x1AB0, 0x1ACE }, { 0x1DC0, 0x1DFF }, { 0x200B, 0x200F },
		{ 0x2028, 0x202E }, { 0x2060, 0x206F }, { 0x20D0, 0x20F0 },
		{ 0x302A, 0x302F }, { 0x3099, 0x309A }, { 0x3164, 0x3164 },
		{ 0xD800, 0xF8FF }, { 0xFB1E, 0xFB1E }, { 0xFDD0, 0xFDEF },
		{ 0xFE00, 0xFE0F }, { 0xFE20, 0xFE2F }, { 0xFEFF, 0xFEFF },
		{ 0xFFA0, 0xFFA0 }, { 0xFFF0, 0xFFFC }, { 0xFFFE, 0xFFFF } };

	for (size_t i = 0; i < sizeof(not_shown) / sizeof(*not_shown); i++)
		if (character >= not_shown[i][0] &&
		    character <= not_shown[i][1])
			return false;
	return character <= 0xFFFF;
}

size_t
text_make_shown(char *text, size_t bytes, bool lines)
{
	struct text rest = { text, (uint32_t)bytes };
	char *to = text;

	while (rest.bytes > 0) {
		uint32_t character = 0;
		uint32_t n = text_character(rest, &character);
		bool stays =
		    n > 0 &&
		    (text_is_shown(character) ||
			(lines && (*rest.at == '\n' || *rest.at == '\t')));

		if (n == 0)
			n = 1;
		if (stays)
			memmove(to, rest.at, n);
		else
			*to = '?';
		to += stays ? n : 1;
		rest.at += n;
		rest.bytes -= n;
	}
	return (size_t)(to - text);
}

const char *
text_quote(char *to, size_t to_bytes, struct text t)
{
	const unsigned char *p = (const unsigned char *)t.at;
	size_t used = 0;

	if (to_bytes == 0)
		return to;
	for (uint32_t i = 0; i < t.bytes;) {
		uint32_t n = character_bytes(p + i, t.bytes - i);
		uint32_t character = 0;
		bool plain =
		    n > 1 ? text_character((struct text){ t.at + i, n },
				&character) == n &&
				text_is_shown(character)
			  : n == 1 && p[i] >= 0x20 && p[i] < 0x7F &&
				p[i] != '\\' && p[i] != '"' && p[i] != '\'';
		size_t wants = plain ? n : 4;

		/* Leave room for "..." unless this is the last character. */
		if (used + wants + (i + n < t.bytes ? 3 : 0) >= to_bytes) {
			if (to_bytes > used + 3) {
				memcpy(to + used, "...", 3);
				used += 3;
			}
			break;
		}
		if (plain) {
			memcpy(to + used, p + i, n);
			used += n;
			i += n;
		} else {
			snprintf(to + used, to_bytes - used, "\\x%02X", p[i]);
			used += 4;
			i++;
		}
	}
	to[used] = '\0';
	return to;
}

struct text
text_front(struct text pattern)
{
	uint32_t i = 0;

	while (
	    i < pattern.bytes && pattern.at[i] != '*' && pattern.at[i] != '?')
		i++;
	return (struct text){ pattern.at, i };
}

bool
text_is_pattern(struct text pattern)
{
	return text_front(pattern).bytes < pattern.bytes;
}

/* The classic two-pointer walk: a mismatch returns to the last star. */
bool
text_match(struct text pattern, struct text t)
{
	const unsigned char *s = (const unsigned char *)t.at;
	uint32_t i = 0, k = 0, star = UINT32_MAX, mark = 0;

	while (i < t.bytes) {
		uint32_t n = character_bytes(s + i, t.bytes - i);
		char c = k < pattern.bytes ? pattern.at[k] : '\0';

		if (n == 0)
			n = 1;
		if (k < pattern.bytes && c == '*') {
			star = k++;
			mark = i;
		} else if (k < pattern.bytes && c == '?') {
			k++;
			i += n;
		} else if (k < pattern.bytes && c == t.at[i]) {
			k++;
			i++;
		} else if (star != UINT32_MAX) {
			k = star + 1;
			i = ++mark;
		} else {
			return false;
		}
	}
	while (k < pattern.bytes && pattern.at[k] == '*')
		k++;
	return k == pattern.bytes;
}

bool
text_match_partition(struct text pattern, struct text partition)
{
	const char *slash =
	    pattern.bytes > 0 ? memchr(pattern.at, '/', pattern.bytes) : NULL;
	char other[NAME_BYTES_MAX];

	if (slash == NULL || pattern.bytes > sizeof(other) ||
	    memchr(pattern.at, '$', pattern.bytes) != NULL)
		return text_match(pattern, partition);
	memcpy(other, pattern.at, pattern.bytes);
	other[slash - pattern.at] = '$';
	return text_match((struct text){ other, pattern.bytes }, partition);
}
