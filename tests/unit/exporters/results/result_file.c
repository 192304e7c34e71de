/*
 * result_file - result files, judged by a reader of them in Python.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/results/result_file.h"

#include <inttypes.h>
#include <math.h>
#include <unistd.h>

#include "tests/unit/check.h"

enum { FILES = 4000, FILE_BYTES = 4096 };

/* What random files are made of. */
static const char *const names[] = { "\"a\"", "\"BM_x/y:1\"", "\"gr\\u00f6\"",
	"\"\\ud83d\\ude00\"", "\"\\ud83d\"", "\"\"", "null", "17",
	"\"\xc3\xa9\\n\\\"\"", "\"\\u0000z\"", "{\"name\": 1}" };
static const char *const times[] = { "\"1489000000\"", "1489000000",
	"1489000000.1234565", "\" 5.5 \"", "-0.0000005", "0.0000015",
	"\"soon\"", "\"\"", "true", "null", "253402300799", "253402300801",
	"-62135596801", "1e400", "NaN", "\"0x10\"", "\"1_0\"", "1e9",
	"\"\\u00001.5\"", "\"1.5\\u0000\"", "1489000000.9999999", "[1]",
	"\"nan\"", "\"+7\"" };
static const char *const timings[] = { "0.25", "0", "-0.0", "1e-9", "123",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808",
	"-9223372036854775809", "NaN", "Infinity", "-Infinity", "\"NaN\"",
	"\"2.5\"", "\"\\u0031\"", "true", "null", "[]", "{}", "1E5", "1e999",
	"0.1234567890123456789", "\"\"", "-0" };
static const char *const others[] = { "\"iters\": \"12\"",
	"\"extras\": {\"k\": {\"doubleValue\": 1.5}}", "\"metrics\": [{}, []]",
	"\"x\\\"y\": \"\\\\\"", "\"na\\u006de\": \"escaped\"",
	"\"n\": [1, 2.5e3, null, true, false, NaN]" };
static const char *const blanks[] = { "", " ", "\n", "\r\n\t", "  " };

#define PICK(list, random)                                                     \
	(list)[check_random(random) % (sizeof(list) / sizeof(*(list)))]

struct made {
	char at[FILE_BYTES];
	uint32_t bytes;
};

static void
put(struct made *made, const char *text)
{
	uint32_t bytes = (uint32_t)strlen(text);

	assert_true(made->bytes + bytes < FILE_BYTES);
	memcpy(made->at + made->bytes, text, bytes);
	made->bytes += bytes;
}

static void
put_member(struct made *made, uint64_t *random, bool *first, const char *name,
    const char *value)
{
	put(made, *first ? "" : ",");
	*first = false;
	put(made, PICK(blanks, random));
	put(made, name);
	put(made, PICK(blanks, random));
	put(made, ":");
	put(made, PICK(blanks, random));
	put(made, value);
	put(made, PICK(blanks, random));
}

static bool
one_in(uint64_t *random, uint32_t n)
{
	return check_random(random) % n == 0;
}

static void
put_entry(struct made *made, uint64_t *random)
{
	bool first = true;

	if (one_in(random, 30)) {
		put(made, one_in(random, 2) ? "null" : "[\"name\", 1]");
		return;
	}
	put(made, "{");
	for (int i = 0; i < 4; i++)
		switch (check_random(random) % 4) {
		case 0:
			put_member(made, random, &first, "\"name\"",
			    one_in(random, 4) ? PICK(names, random) : "\"b\"");
			break;
		case 1:
			put_member(made, random, &first, "\"wallTime\"",
			    PICK(timings, random));
			break;
		default:
			put(made, first ? "" : ", ");
			first = false;
			put(made, PICK(others, random));
		}
	put(made, "}");
}

static void
put_entries(struct made *made, uint64_t *random)
{
	uint32_t count = (uint32_t)(check_random(random) % 6);

	if (one_in(random, 20)) {
		put(made, one_in(random, 2) ? "null" : "[]");
		return;
	}
	if (one_in(random, 10)) {
		put(made, one_in(random, 2) ? "{}" : "{\"entry\": null}");
		return;
	}
	put(made, "{\"entry\": [");
	for (uint32_t i = 0; i < count; i++) {
		put(made, i > 0 ? ", " : "");
		put_entry(made, random);
	}
	put(made, "]}");
}

/* Mostly good; of what is not every kind, and bytes that are just wrong. */
static void
make(struct made *made, uint64_t *random)
{
	bool first = true;

	made->bytes = 0;
	put(made, one_in(random, 200) ? "\xef\xbb\xbf" : PICK(blanks, random));
	put(made, "{");
	for (int i = 0; i < 6; i++) {
		if (i == 1 || one_in(random, 60))
			put_member(made, random, &first, "\"name\"",
			    one_in(random, 8) ? PICK(names, random) : "\"t\"");
		if (i == 2 || one_in(random, 60))
			put_member(made, random, &first, "\"startTime\"",
			    one_in(random, 3) ? PICK(times, random)
					      : "\"1489000000\"");
		if ((i == 3 && !one_in(random, 20)) || one_in(random, 15)) {
			put_member(
			    made, random, &first, "\"ent\\u0072ies\"", "");
			put_entries(made, random);
		}
		if (i == 4) {
			put(made, first ? "" : ", ");
			put(made, PICK(others, random));
			first = false;
		}
	}
	put(made, "}");
	put(made, one_in(random, 50) ? "x" : PICK(blanks, random));
	for (int i = one_in(random, 10) ? 2 : 0; i > 0; i--) {
		char c = (char)check_random(random);
		uint32_t at = (uint32_t)(check_random(random) % made->bytes);

		made->at[at] = c == '\0' ? '"' : c;
	}
	if (one_in(random, 20))
		made->bytes = (uint32_t)(check_random(random) % made->bytes);
}

static void
print_hex(FILE *file, struct text text)
{
	for (uint32_t i = 0; i < text.bytes; i++)
		fprintf(file, "%02x", (unsigned char)text.at[i]);
}

static void
print_timing(FILE *file, const struct value *timing)
{
	if (timing->type == VALUE_INT) {
		fprintf(file, "i%" PRId64, timing->is.i);
	} else if (timing->type == VALUE_TEXT) {
		fputc('t', file);
		print_hex(file, timing->is.text);
	} else {
		fprintf(file, "f%a", timing->is.f);
	}
}

/* As the judge has it; each item ends in a NUL. */
static void
print(FILE *file, struct text text)
{
	struct result_file result;
	struct err err = { 0 };

	if (result_file_read(&result, text, false, &err) != 0) {
		assert_int_not_equal(err.text[0], '\0');
		fprintf(file, "bad%c", 0);
		return;
	}
	fprintf(file, "test %" PRId64 " ", result.start_us);
	print_hex(file, result.test);
	fputc('\0', file);
	for (uint32_t i = 0; i < result.count; i++) {
		fprintf(file, "entry%c", 0);
		print_timing(file, &result.entries[i].timing);
		fputc('\0', file);
		fwrite(result.entries[i].info.at, 1,
		    result.entries[i].info.bytes, file);
		fputc('\0', file);
		print_hex(file, result.entries[i].name);
		fputc('\0', file);
	}
	fprintf(file, "left out %" PRIu32 "%c", result.bad, 0);
	assert_int_equal(result.bad > 0, result.complaint.text[0] != '\0');
	result_file_clear(&result);
}

static void
random_files_are_read_as_python_reads_them(void **state)
{
	static struct made made;
	uint64_t random = check_seed();
	char folder[] = "/tmp/result_file.XXXXXX", path[64], command[512];
	FILE *files, *ours;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/files", folder);
	files = fopen(path, "w");
	snprintf(path, sizeof(path), "%s/ours", folder);
	ours = fopen(path, "w");
	assert_non_null(files);
	assert_non_null(ours);
	for (int i = 0; i < FILES; i++) {
		make(&made, &random);
		fwrite(made.at, 1, made.bytes, files);
		fputc('\0', files);
		print(ours, (struct text){ made.at, made.bytes });
	}
	fclose(files);
	fclose(ours);
	snprintf(command, sizeof(command),
	    "/usr/bin/python3 "
	    "tests/unit/exporters/results/result_file_judge.py %s/files "
	    "%s/ours",
	    folder, folder);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

/* ---- what a reader is reported ----------------------------------------------
 */

static const char *
why(const char *text, bool strict)
{
	static struct err err;
	struct result_file result;

	err.text[0] = '\0';
	if (result_file_read(&result, text_of(text), strict, &err) == 0)
		result_file_clear(&result);
	return err.text;
}

static void
a_bad_file_is_reported_in_a_sentence(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "", "it is empty" },
		{ "\xef\xbb\xbf{}", "it begins with a byte order mark" },
		{ "{\"a\": \"\xff\"}", "it is not UTF-8" },
		{ "[]", "it is not a JSON object" },
		{ "{}", "\"name\" is missing" },
		{ "{\"name\": \"n\"}", "\"startTime\" is missing" },
		{ "{\"name\": \"n\", \"startTime\": 1}",
		    "\"entries\" is missing" },
		{ "{\"name\": 5, \"startTime\": 1, \"entries\": {}}",
		    "\"name\" is not a string" },
		{ "{\"name\": \"n\", \"startTime\": \"soon\", \"entries\": {}}",
		    "\"startTime\" is not a number: \"soon\"" },
		{ "{\"name\": \"n\", \"startTime\": \"\\u00001.5\", "
		  "\"entries\": {}}",
		    "\"startTime\" is not a number: \"\\x001.5\"" },
		{ "{\"name\": \"n\", \"startTime\": \"1.5\\u0000\", "
		  "\"entries\": {}}",
		    "\"startTime\" is not a number: \"1.5\\x00\"" },
		{ "{\"name\": \"n\", \"startTime\": 1e300, \"entries\": {}}",
		    "\"startTime\" is outside the years 1 to 9999" },
		{ "{\n \"name\": x}", "not JSON: expected a value at line 2, "
				      "column 10" },
		{ "{\"name\": \"n\"", "not JSON: unexpected end at line "
				      "1, column 13" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(why(cases[i].text, false), cases[i].why);
}

static void
a_bad_entry_is_left_out_unless_strict(void **state)
{
	static const char text[] =
	    "{\"name\": \"t\", \"startTime\": 5, \"entries\": {\"entry\": [ "
	    "{\"name\": \"a\"}, {\"wallTime\": 1}, {\"name\": \"c\", "
	    "\"wallTime\": 2} ]}}";
	struct result_file result;
	struct err err = { 0 };

	assert_int_equal(
	    result_file_read(&result, text_of(text), false, &err), 0);
	assert_int_equal(result.count, 2);
	assert_int_equal(result.bad, 1);
	assert_string_equal(
	    result.complaint.text, "entry 2: \"name\" is missing");
	assert_int_equal(result.entries[0].timing.type, VALUE_INT);
	assert_int_equal(result.entries[0].timing.is.i, 0);
	assert_true(
	    text_equal(result.entries[0].info, text_of("{\"name\": \"a\"}")));
	result_file_clear(&result);
	assert_string_equal(why(text, true), "entry 2: \"name\" is missing");
}

static void
what_is_too_deep_too_large_or_too_many_is_refused(void **state)
{
	size_t room = RESULT_FILE_BYTES_MAX + 2;
	char *text = malloc(room), *at = text;
	struct result_file result;
	struct err err;

	assert_non_null(text);
	memset(text, '[', 100);
	text[0] = '{';
	memcpy(text + 1, "\"a\":", 4);
	text[100] = '\0';
	assert_string_equal(why(text, false),
	    "not JSON: nested deeper than 63 levels at line 1, column 68");
	memset(text, ' ', room);
	assert_int_equal(
	    result_file_read(&result,
		(struct text){ text, RESULT_FILE_BYTES_MAX + 1 }, false, &err),
	    -1);
	assert_string_equal(err.text, "it is larger than 1048576 bytes");
	at += sprintf(at, "{\"name\": \"n\", \"startTime\": 1, \"entries\": "
			  "{\"entry\": [");
	for (int i = 0; i <= RESULT_ENTRIES_MAX; i++)
		at += sprintf(at, "%s{\"name\":\"x\"}", i > 0 ? "," : "");
	sprintf(at, "]}}");
	assert_string_equal(why(text, false), "it has more than 65536 entries");
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_files_are_read_as_python_reads_them),
		cmocka_unit_test(a_bad_file_is_reported_in_a_sentence),
		cmocka_unit_test(a_bad_entry_is_left_out_unless_strict),
		cmocka_unit_test(
		    what_is_too_deep_too_large_or_too_many_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
