/*
 * influx_line - what is written is what another reader of the protocol reads.
 * SPDX-License-Identifier: MIT
 */
#include "tests/unit/check.h"

#include <math.h>

#include "exporters/upload/targets/influx.h"
#include "tests/unit/scratch.h"

/* A reader of the protocol, by its specification: prints a line of JSON for
 * each line. */
static const char judge[] =
    "import json, sys\n"
    "def split(text, at):\n"
    "    parts, part, i = [], '', 0\n"
    "    while i < len(text):\n"
    "        if text[i] == '\\\\' and text[i + 1:i + 2] in tuple(', ='):\n"
    "            part += text[i:i + 2]; i += 2; continue\n"
    "        if text[i] == at:\n"
    "            parts.append(part); part = ''\n"
    "        else:\n"
    "            part += text[i]\n"
    "        i += 1\n"
    "    return parts + [part]\n"
    "def plain(text, specials):\n"
    "    for c in specials:\n"
    "        text = text.replace('\\\\' + c, c)\n"
    "    return text\n"
    "def number(text):\n"
    "    if text in ('true', 'false'): return text == 'true'\n"
    "    return float(text)\n"
    "for line in open(sys.argv[1], newline='\\n'):\n"
    "    assert line[0] != '#'\n"
    "    head, fields, time = split(line.rstrip('\\n'), ' ')\n"
    "    measurement, tag = split(head, ',')\n"
    "    key, value = split(tag, '=')\n"
    "    (field,) = split(fields, ',')\n"
    "    name, num = split(field, '=')\n"
    "    print(plain(measurement, ', '), plain(key, ', ='), plain(value, ', "
    "='),\n"
    "          plain(name, ', ='), repr(number(num)), int(time), sep='\\t')\n";

enum { LINES = 4000, NAME_MAX_BYTES = 24 };

static uint64_t seed;

/* A name of 1 to 24 characters, half of them such as have a meaning. */
static struct text
random_name(char to[static 2 * NAME_MAX_BYTES])
{
	static const char *const some[] = { ",", " ", "=", "\\", "\"", "#", "'",
		"a", "Z", "0", ".", "_", "$", "\xc3\xa4", "\xe2\x82\xac" };
	uint32_t count = 1 + (uint32_t)(check_random(&seed) % 12);
	struct text name = { to, 0 };

	for (uint32_t i = 0; i < count; i++) {
		const char *one = some[check_random(&seed) % 15];

		memcpy(to + name.bytes, one, strlen(one));
		name.bytes += (uint32_t)strlen(one);
	}
	return name;
}

/* What the page says that stands for the name. */
static struct text
printed(char to[static 2 * NAME_MAX_BYTES], struct text name, bool measurement)
{
	memcpy(to, name.at, name.bytes);
	for (uint32_t i = 0; i < name.bytes; i++) {
		bool last = i + 1 == name.bytes;

		if (name.at[i] == '\\' &&
		    (last || strchr(", =\\\"", name.at[i + 1]) != NULL))
			to[i] = '/';
		if (name.at[i] == '#' && i == 0 && measurement)
			to[i] = '_';
	}
	return (struct text){ to, name.bytes };
}

static struct value
random_value(void)
{
	struct value value = { .type = VALUE_FLOAT };
	uint64_t bits = check_random(&seed);

	switch (check_random(&seed) % 4) {
	case 0:
		value.type = VALUE_INT;
		value.is.i = check_int64(&seed);
		break;
	case 1: value.is.f = (double)(int32_t)bits / 1000; break;
	case 2:
		value.type = VALUE_BOOL;
		value.is.boolean = bits & 1;
		break;
	default:
		do {
			memcpy(&value.is.f, &bits, sizeof(bits));
			bits = check_random(&seed);
		} while (!isfinite(value.is.f));
	}
	return value;
}

static void
print_float(FILE *file, double number)
{
	char text[NUMBER_BYTES];

	number_repr(text, number);
	fputs(text, file);
}

/* Whole numbers are floats there. */
static void
print_value(FILE *file, const struct value *value)
{
	if (value->type == VALUE_INT)
		print_float(file, (double)value->is.i);
	else if (value->type == VALUE_BOOL)
		fprintf(file, "%s", value->is.boolean ? "True" : "False");
	else
		print_float(file, value->is.f);
}

static void
put_line(FILE *lines, FILE *wanted)
{
	char names[4][2 * NAME_MAX_BYTES], to[4 * NAME_MAX_BYTES];
	char other[2 * NAME_MAX_BYTES];
	unsigned char number[NUMBER_BYTES + 1];
	struct value value = random_value();
	int64_t time = check_int64(&seed);
	static const char between[4] = { ',', '=', ' ', '=' };

	for (int i = 0; i < 4; i++) {
		struct text name = random_name(names[i]);
		struct text want = printed(other, name, i == 0);
		size_t n = influx_escape(
		    to, name, i == 0 ? INFLUX_MEASUREMENT : INFLUX_KEY);

		assert_true(n <= 2 * name.bytes);
		fwrite(to, 1, n, lines);
		fputc(between[i], lines);
		fprintf(wanted, "%.*s\t", (int)want.bytes, want.at);
	}
	*influx_put_number(number, &value) = '\0';
	fprintf(lines, "%s %lld\n", number, (long long)time);
	print_value(wanted, &value);
	fprintf(wanted, "\t%lld\n", (long long)time);
}

static void
test_any_name_and_number_is_read_back(void **state)
{
	char dir[SCRATCH_BYTES], path[SCRATCH_BYTES + 16], command[512];
	FILE *lines, *wanted, *script;

	seed = check_seed();
	scratch_make(dir);
	snprintf(path, sizeof(path), "%s/judge.py", dir);
	script = fopen(path, "w");
	fputs(judge, script);
	fclose(script);
	snprintf(path, sizeof(path), "%s/lines", dir);
	lines = fopen(path, "w");
	snprintf(path, sizeof(path), "%s/wanted", dir);
	wanted = fopen(path, "w");
	for (int i = 0; i < LINES; i++)
		put_line(lines, wanted);
	fclose(lines);
	fclose(wanted);
	snprintf(command, sizeof(command),
	    "cd %s && /usr/bin/python3 judge.py lines >got && "
	    "cmp wanted got && [ $(wc -l <got) -eq %d ]",
	    dir, LINES);
	assert_int_equal(system(command), 0);
	scratch_remove(dir);
}

static void
test_a_whole_number_has_the_type_of_the_others(void **state)
{
	unsigned char to[NUMBER_BYTES + 1];
	struct value value = { .type = VALUE_INT, .is.i = -5 };

	*influx_put_number(to, &value) = '\0';
	assert_string_equal((char *)to, "-5");
	value = (struct value){ .type = VALUE_FLOAT, .is.f = -5.5 };
	*influx_put_number(to, &value) = '\0';
	assert_string_equal((char *)to, "-5.5");
}

static void
test_what_is_no_number_is_left_out(void **state)
{
	unsigned char to[NUMBER_BYTES + 1];
	struct value value = { .type = VALUE_NIL };

	assert_null(influx_put_number(to, &value));
	value.type = VALUE_FLOAT;
	value.is.f = NAN;
	assert_null(influx_put_number(to, &value));
	value.is.f = -INFINITY;
	assert_null(influx_put_number(to, &value));
	value.type = VALUE_TEXT;
	assert_null(influx_put_number(to, &value));
	value.type = VALUE_UINT;
	value.is.u = UINT64_MAX;
	*influx_put_number(to, &value) = '\0';
	assert_string_equal((char *)to, "18446744073709551615");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_name_and_number_is_read_back),
		cmocka_unit_test(
		    test_a_whole_number_has_the_type_of_the_others),
		cmocka_unit_test(test_what_is_no_number_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
