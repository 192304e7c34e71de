/*
 * answer_run - an answer that is all that a program prints.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "proto/answer/answer.h"
#include "proto/config/opt.h"
#include "proto/format/output.h"

void
answer_options_judge(
    const struct answer_options *options, const struct answer_table *tables)
{
	struct err err = { 0 };

	if (options->columns != NULL && strcmp(options->columns, "help") == 0) {
		answer_put_columns(tables, options->format, stdout);
		exit(0);
	}
	if (answer_options_check(options, tables, &err) != 0)
		opt_usage("%s", err.text);
}

int
answer_run(const struct answer_options *options,
    const struct answer_table *tables,
    int (*give)(void *arg, struct answer *answer, struct err *err), void *arg,
    struct err *err)
{
	struct answer_options how = *options;
	struct answer *answer;
	struct output output;
	int rc;

	if (output_open(&output, "-", err) != 0)
		return -1;
	how.width = answer_terminal_width();
	answer = answer_new(output.file, &how, tables);
	rc = answer_end(answer, give(arg, answer, err), err);
	answer_free(&answer);
	if (rc >= 0)
		return output_commit(&output, err) == 0 ? rc : -1;
	output_abort(&output);
	return rc;
}
