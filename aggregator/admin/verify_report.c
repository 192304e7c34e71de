/*
 * verify_report - count an error of the store and report it as a sentence.
 * SPDX-License-Identifier: MIT
 */
#include <stdarg.h>
#include <stdio.h>

#include "aggregator/admin/verify_private.h"

void
verify_report(struct check *check, const char *format, ...)
{
	char sentence[512];
	va_list args;

	check->wrong++;
	if (check->report == NULL)
		return;
	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	check->report(check->arg, sentence);
}
