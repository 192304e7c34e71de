/*
 * opt_help - what --help prints.
 * SPDX-License-Identifier: MIT
 */
#include "proto/opt_show.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { HELP_COLUMN = 27, LINE_COLUMNS = 79 };

/* Print the words of `text`; `used` columns are taken, later lines begin at
 * `column`, but for those that the text begins. */
static void
print_words(const char *text, int used, int column)
{
	for (bool first = true; *text != '\0'; first = false) {
		int word = (int)strcspn(text, " \n");

		if (!first && text[-1] == '\n') {
			printf("\n");
			used = 0;
		} else if (!first && used + 1 + word > LINE_COLUMNS) {
			printf("\n%*s", column, "");
			used = column;
		} else if (!first) {
			used += printf(" ");
		}
		used += printf("%.*s", word, text);
		text += word;
		text += *text != '\0';
	}
	printf("\n");
}

/* Print `text` from column HELP_COLUMN on, `used` columns being taken. */
static void
print_wrapped(const char *text, int used)
{
	if (used >= HELP_COLUMN) {
		printf("\n");
		used = 0;
	}
	printf("%*s", HELP_COLUMN - used, "");
	print_words(text, HELP_COLUMN, HELP_COLUMN);
}

void
opt_help(const struct opt_program *program)
{
	int column = printf("usage: %s ", program->name);

	print_words(program->synopsis, column, column);
	printf("\n");
	print_words(program->summary, 0, 0);
	printf("\noptions:\n");
	for (const struct opt *const *t = program->tables; *t != NULL; t++) {
		for (const struct opt *o = *t; o->name != NULL; o++) {
			char letter[8] = "    ";
			int used;

			if (o->letter != 0)
				snprintf(
				    letter, sizeof(letter), "-%c, ", o->letter);
			used = printf("  %s--%s%s%s", letter, o->name,
			    o->argument ? " " : "",
			    o->argument ? o->argument : "");
			print_wrapped(o->help, used);
		}
	}
	print_wrapped("this text", printf("      --help"));
	print_wrapped("the version", printf("      --version"));
}
