/*
 * compare_report - what a comparison says, for people and for continuous
 * integration.
 *
 * JUnit XML, as Jenkins and GitLab read it: a test case for each number that
 * decides, failed if it is worse, skipped if it is undecided.  Annotations of
 * GitHub: a line for each of them on standard output, "::error", "::warning" or
 * "::notice".
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_COMPARE_REPORT_H
#define EXPORTERS_COMPARE_REPORT_H

#include <stdio.h>

#include "exporters/compare/set.h"

enum { COMPARE_WORDS_BYTES = 400 };
/* "5.2 % more (4.1 to 6.3 %)" and the rest, in one sentence. */
void compare_words(
    char to[static COMPARE_WORDS_BYTES], const struct compare_judged *of);

enum compare_report { COMPARE_NO_REPORT, COMPARE_JUNIT, COMPARE_GITHUB };

struct compare_case {
	const char *suite; /* what is compared: "starts of acct$pool" */
	const struct compare_set *set;
	const struct compare_row *rows;
	uint32_t count;
	const char *lacks; /* why there is less than was asked for, or NULL */
};
void compare_report_write(
    const struct compare_case *of, enum compare_report report, FILE *file);

#endif
