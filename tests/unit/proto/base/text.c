/*
 * text - names, UTF-8, quoting and patterns.
 * SPDX-License-Identifier: MIT
 */
#include "proto/base/text.h"

#include <limits.h>
#include <locale.h>
#include <wchar.h>

#include "tests/unit/check.h"

static void
a_plain_name_is_good(void **state)
{
	assert_int_equal(text_check_name(text_of("acct$pool")), TEXT_OK);
	assert_int_equal(
	    text_check_name(text_of("_^~ {|} 0123456789abcdef")), TEXT_OK);
	assert_int_equal(
	    text_check_name(text_of("münchen-\xF0\x9F\x98\x80")), TEXT_OK);
}

static void
what_is_wrong_with_a_name_is_reported(void **state)
{
	char name[300];

	memset(name, 'a', sizeof(name));
	assert_int_equal(text_check_name(text_of("")), TEXT_EMPTY);
	assert_int_equal(text_check_name((struct text){ name, 255 }), TEXT_OK);
	assert_int_equal(
	    text_check_name((struct text){ name, 256 }), TEXT_TOO_LONG);
	assert_int_equal(text_check_name(text_of("a\nb")), TEXT_CONTROL);
	assert_int_equal(
	    text_check_name(text_of("12345678\x7F")), TEXT_CONTROL);
	assert_int_equal(text_check_name(text_of("a\xC2\x85")), TEXT_CONTROL);
	assert_int_equal(text_check_name(text_of("a\xC3")), TEXT_NOT_UTF8);
	assert_non_null(strstr(text_fault_words(TEXT_TOO_LONG), "255"));
}

/* The oracle decodes to code points and looks at those. */
static bool
slow_is_utf8(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n;) {
		uint32_t c = p[i], length, least;

		if (c < 0x80) {
			i++;
			continue;
		}
		if (c >= 0xC0 && c < 0xE0)
			length = 2, c &= 0x1F, least = 0x80;
		else if (c >= 0xE0 && c < 0xF0)
			length = 3, c &= 0x0F, least = 0x800;
		else if (c >= 0xF0 && c < 0xF8)
			length = 4, c &= 0x07, least = 0x10000;
		else
			return false;
		for (uint32_t k = 1; k < length; k++) {
			if (i + k >= n || (p[i + k] & 0xC0) != 0x80)
				return false;
			c = c << 6 | (p[i + k] & 0x3F);
		}
		if (c < least || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
			return false;
		i += length;
	}
	return true;
}

static void
utf8_is_what_the_standard_says(void **state)
{
	static const unsigned char edges[] = { 0x00, 0x1F, 0x20, 0x7F, 0x80,
		0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0,
		0xE1, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF };
	unsigned char b[16];

	for (size_t i = 0; i < sizeof(edges); i++)
		for (size_t k = 0; k < sizeof(edges); k++)
			for (size_t l = 0; l < sizeof(edges); l++)
				for (size_t m = 0; m < sizeof(edges); m++) {
					memset(b, 'x', sizeof(b));
					b[9] = edges[i];
					b[10] = edges[k];
					b[11] = edges[l];
					b[12] = edges[m];
					assert_int_equal(
					    text_is_utf8(
						(struct text){ (char *)b, 16 }),
					    slow_is_utf8(b, 16));
				}
}

static void
quoted_text_has_no_bytes_that_hurt_a_line(void **state)
{
	char to[16];

	assert_string_equal(
	    text_quote(to, sizeof(to), text_of("a\n\x1B[")), "a\\x0A\\x1B[");
	assert_string_equal(
	    text_quote(to, sizeof(to), text_of("ü\xFF")), "ü\\xFF");
	assert_string_equal(
	    text_quote(to, sizeof(to), text_of("0123456789abcdefgh")),
	    "0123456789ab...");
	assert_string_equal(text_quote(to, 5, text_of("\n\n\n")), "...");
	assert_string_equal(text_quote(to, 1, text_of("abc")), "");
}

static void
only_blanks_at_the_ends_are_trimmed(void **state)
{
	const struct text all = { "\0 a", 3 };

	assert_true(text_equal(
	    text_trim(text_of(" \t\r\na \tb\n \r\t")), text_of("a \tb")));
	assert_true(text_equal(text_trim(all), all));
	assert_int_equal(text_trim(text_of(" \n")).bytes, 0);
	assert_int_equal(text_trim((struct text){ NULL, 0 }).bytes, 0);
}

static void
a_text_has_a_part_before_and_one_after_a_sign(void **state)
{
	static const struct {
		const char *whole, *before, *after;
	} cases[] = { { "model:phase", "model", "phase" },
		{ "a:b:c", "a", "b:c" }, { ":x", "", "x" }, { "x:", "x", "" },
		{ "none", "none", "none" }, { "", "", "" } };
	const struct text nothing = { NULL, 0 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct text whole = text_of(cases[i].whole);

		assert_true(text_equal(
		    text_before(whole, ':'), text_of(cases[i].before)));
		assert_true(text_equal(
		    text_after(whole, ':'), text_of(cases[i].after)));
	}
	assert_int_equal(text_before(nothing, ':').bytes, 0);
	assert_int_equal(text_after(nothing, ':').bytes, 0);
}

static void
patterns_match_like_a_shell(void **state)
{
	assert_true(text_match(text_of("*"), text_of("")));
	assert_true(text_match(text_of("tvm-*_1"), text_of("tvm-9_1_1")));
	assert_true(text_match(text_of("a?c"), text_of("aüc")));
	assert_true(text_match(text_of("*a*b*"), text_of("xxaxxbxx")));
	assert_false(text_match(text_of("a?c"), text_of("ac")));
	assert_false(text_match(text_of("abc"), text_of("abcd")));
	assert_false(text_match(text_of(""), text_of("a")));
	assert_true(text_equal(text_front(text_of("a:b*c?")), text_of("a:b")));
	assert_true(text_equal(text_front(text_of("a:b")), text_of("a:b")));
	assert_true(text_equal(text_front(text_of("?b")), text_of("")));
}

static void
lines_come_off_the_front(void **state)
{
	struct text rest = text_of("one\n\n two \r\nlast"), line;

	assert_true(text_next_line(&rest, &line));
	assert_true(text_equal(line, text_of("one")));
	assert_true(text_next_line(&rest, &line));
	assert_int_equal(line.bytes, 0);
	assert_true(text_next_line(&rest, &line));
	assert_true(text_equal(line, text_of(" two \r")));
	assert_true(text_next_line(&rest, &line));
	assert_true(text_equal(line, text_of("last")));
	assert_false(text_next_line(&rest, &line));
	rest = (struct text){ NULL, 0 };
	assert_false(text_next_line(&rest, &line));
}

static void
words_come_off_the_front(void **state)
{
	struct text rest = text_of("  one\ttwo\n x "), none = { NULL, 0 };

	assert_true(text_equal(text_next_word(&rest), text_of("one")));
	assert_true(text_equal(text_next_word(&rest), text_of("two\n")));
	assert_true(text_equal(text_next_word(&rest), text_of("x")));
	assert_true(text_equal(rest, text_of(" ")));
	assert_int_equal(text_next_word(&rest).bytes, 0);
	assert_int_equal(rest.bytes, 0);
	assert_int_equal(text_next_word(&none).bytes, 0);
}

static void
bytes_are_two_digits_each(void **state)
{
	char to[8] = "!!!!!!!";

	assert_ptr_equal(text_hex(to, "\x00\x9f\xe0", 3), to + 6);
	assert_string_equal(to, "009fe0!");
	assert_ptr_equal(text_hex(to, NULL, 0), to);
}

/* Against the C library's. */
static void
every_character_is_written_and_read_again(void **state)
{
	locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);

	assert_true(utf8 != (locale_t)0);
	uselocale(utf8);
	for (uint32_t c = 0; c < 0x110000; c++) {
		char wanted[MB_LEN_MAX], bytes[4];
		mbstate_t shift = { 0 };
		uint32_t back, n;

		if (c == 0xD800)
			c = 0xE000; /* surrogates are no characters */
		n = text_put_character(bytes, c);
		assert_int_equal(n, wcrtomb(wanted, (wchar_t)c, &shift));
		assert_memory_equal(bytes, wanted, n);
		assert_int_equal(
		    text_character((struct text){ bytes, n }, &back), n);
		assert_int_equal(back, c);
		assert_int_equal(
		    text_character((struct text){ bytes, n - 1 }, &back), 0);
	}
	assert_int_equal(text_character(text_of("\xED\xA0\x80"), NULL), 0);
	uselocale(LC_GLOBAL_LOCALE);
	freelocale(utf8);
}

/* From the tables of RFC 3629. */
static void
what_is_no_character_is_not_read(void **state)
{
	static const char *const bad[] = { "\x80", "\xbf", "\xc0\x80",
		"\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
		"\xf4\x90\x80\x80", "\xf8\x88\x80\x80", "\xff", "\xc3z",
		"\xe2\x82z", "\xe2z" };
	uint32_t character = 7;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(
		    text_character(text_of(bad[i]), &character), 0);
	assert_int_equal(
	    text_character((struct text){ NULL, 0 }, &character), 0);
	assert_int_equal(character, 7);
}

static void
hexadecimal_digits_are_bytes_and_back(void **state)
{
	unsigned char bytes[3] = { 0 };
	char digits[6];

	assert_true(text_unhex(bytes, 3, text_of("00aFf9")));
	assert_memory_equal(bytes, "\x00\xaf\xf9", 3);
	assert_ptr_equal(text_hex(digits, bytes, 3), digits + 6);
	assert_memory_equal(digits, "00aff9", 6);
	assert_false(text_unhex(bytes, 3, text_of("00aff")));
	assert_false(text_unhex(bytes, 3, text_of("00aff90")));
	assert_false(text_unhex(bytes, 3, text_of("00afg9")));
	assert_false(text_unhex(bytes, 3, text_of("0:aff9")));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_name_is_good),
		cmocka_unit_test(what_is_wrong_with_a_name_is_reported),
		cmocka_unit_test(utf8_is_what_the_standard_says),
		cmocka_unit_test(every_character_is_written_and_read_again),
		cmocka_unit_test(quoted_text_has_no_bytes_that_hurt_a_line),
		cmocka_unit_test(only_blanks_at_the_ends_are_trimmed),
		cmocka_unit_test(a_text_has_a_part_before_and_one_after_a_sign),
		cmocka_unit_test(patterns_match_like_a_shell),
		cmocka_unit_test(lines_come_off_the_front),
		cmocka_unit_test(words_come_off_the_front),
		cmocka_unit_test(bytes_are_two_digits_each),
		cmocka_unit_test(hexadecimal_digits_are_bytes_and_back),
		cmocka_unit_test(what_is_no_character_is_not_read),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
