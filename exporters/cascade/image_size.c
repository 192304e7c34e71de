/*
 * image_size - parse the size of an image as container tools print it.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cascade/image_size.h"

#include <math.h>
#include <stdbool.h>

#include "proto/base/number.h"

static bool
is_number_byte(char c)
{
	return (c >= '0' && c <= '9') || c == '.';
}

/* Cut the last word off the end of `rest`. */
static struct text
last_word(struct text *rest)
{
	uint32_t end = rest->bytes, begin;

	while (end > 0 && rest->at[end - 1] == ' ')
		end--;
	begin = end;
	while (begin > 0 && rest->at[begin - 1] != ' ')
		begin--;
	rest->bytes = begin;
	return (struct text){ rest->at + begin, end - begin };
}

/* B kB MB GB TB PB, KiB ... PiB: the power, and whether the base is certainly
 * 1024. */
static int
unit_power(struct text unit, bool *binary)
{
	static const char letters[] = "KMGTP";
	char first;

	*binary = false;
	if (text_equal(unit, text_of("B")) ||
	    text_equal(unit, text_of("bytes")))
		return 0;
	if (unit.bytes != 2 && unit.bytes != 3)
		return -1;
	*binary = unit.bytes == 3;
	if (unit.at[unit.bytes - 1] != 'B' || (*binary && unit.at[1] != 'i'))
		return -1;
	first = unit.at[0] == 'k' ? 'K' : unit.at[0];
	for (int i = 0; letters[i] != '\0'; i++)
		if (letters[i] == first)
			return i + 1;
	return -1;
}

int
image_size_parse(struct text t, uint64_t *bytes)
{
	struct text word = last_word(&t), unit, number = word;
	bool binary = false, apart = false;
	double value;
	int power = 0;

	number.bytes = 0;
	while (
	    number.bytes < word.bytes && is_number_byte(word.at[number.bytes]))
		number.bytes++;
	unit =
	    (struct text){ word.at + number.bytes, word.bytes - number.bytes };
	if (number.bytes == 0) {
		number = last_word(&t);
		apart = true;
	}
	for (uint32_t i = 0; i < number.bytes; i++)
		if (!is_number_byte(number.at[i]))
			return -1;
	if (number.bytes == 0 || (unit.bytes == 0 && apart))
		return -1;
	if (unit.bytes == 0)
		return number_parse_u64(number, bytes, NULL);
	power = unit_power(unit, &binary);
	if (power < 0 || number_parse_double(number, &value, NULL) != 0)
		return -1;
	binary |= apart;
	value *= pow(binary ? 1024 : 1000, power);
	value = binary ? trunc(value) : nearbyint(value);
	if (!(value < 0x1p63))
		return -1;
	*bytes = (uint64_t)value;
	return 0;
}
