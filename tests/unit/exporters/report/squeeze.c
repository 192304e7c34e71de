/*
 * report_squeeze - which blanks and ends of lines of a script or style go.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/report/squeeze.h"

#include "tests/unit/check.h"

static void
check_line(enum squeeze_language language, const char *line, const char *wanted)
{
	struct buffer made = { NULL, 0, 0 };

	squeeze_line(&made, language, text_of(line));
	assert_true(text_equal(buffer_text(&made), text_of(wanted)));
	buffer_clear(&made);
}

static void
blanks_that_mean_nothing_go(void **state)
{
	check_line(SQUEEZE_SCRIPT, "const { a, b } = f(x, y ? 1 : 2);",
	    "const{a,b}=f(x,y?1:2);");
	check_line(SQUEEZE_SCRIPT, "return a + +b;", "return a + +b;");
	check_line(SQUEEZE_SCRIPT, "f(a, // , why", "f(a,");
	check_line(SQUEEZE_SCRIPT, "})", "})\n");
	check_line(SQUEEZE_SCRIPT, "a = b / c; // why", "a=b / c; // why\n");
	check_line(SQUEEZE_SCRIPT, "} else {", "}else{");
	check_line(
	    SQUEEZE_SCRIPT, "f(\"http://x\"); // why", "f(\"http://x\");");
	check_line(SQUEEZE_SCRIPT, "a = /[/]/ // 7", "a=/[/]/ // 7\n");
	check_line(SQUEEZE_STYLE, "a { b: url(x//y); }", "a{b:url(x//y); }\n");
	check_line(SQUEEZE_STYLE, ".a > .b :hover { margin: 0 auto; }",
	    ".a > .b :hover{margin:0 auto;}\n");
	check_line(SQUEEZE_STYLE, "@media (max-width: 9px) and (hover) {",
	    "@media (max-width:9px) and (hover){");
}

static void
texts_and_patterns_stay(void **state)
{
	check_line(SQUEEZE_SCRIPT, "f(\"a = \\\" , b\" , c);",
	    "f(\"a = \\\" , b\",c);");
	check_line(SQUEEZE_SCRIPT, "a = b.replace(/ , /g, \" = \");",
	    "a=b.replace(/ , /g, \" = \");\n");
	check_line(SQUEEZE_SCRIPT, "x = 'a , b' ;", "x='a , b' ;\n");
	check_line(SQUEEZE_SCRIPT, "", "");
	check_line(SQUEEZE_SCRIPT, "\"a\\", "\"a\\\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blanks_that_mean_nothing_go),
		cmocka_unit_test(texts_and_patterns_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
