/*
 * verb_options - the command line of a verb that is a script.
 * SPDX-License-Identifier: MIT
 */
#include "deploy/verb_options.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/err.h"
#include "proto/base/nearest.h"

enum { NAME_BYTES = 32, OPTIONS_MAX = 32 };

struct option {
	char letter;                                 /* 0: none */
	char name[NAME_BYTES], argument[NAME_BYTES]; /* "": a flag */
};

struct options {
	const struct verb *verb;
	struct option at[OPTIONS_MAX];
	int count;
};

static void __attribute__((noreturn, format(printf, 2, 3)))
refuse(const struct options *options, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("poolscope: ", stderr);
	vfprintf(stderr, format, args);
	fprintf(stderr, " (poolscope %s --help lists the options)\n",
	    options->verb->word);
	va_end(args);
	exit(STATUS_USAGE);
}

/* "  -q, --quiet ..." or "      --dir DIR ...": a line of the help. */
static bool
read_line(const char *line, struct option *option)
{
	char argument[NAME_BYTES] = "";

	*option = (struct option){ 0 };
	if (sscanf(line, "  -%c, --%31[a-z-] %31[A-Z]", &option->letter,
		option->name, argument) < 2) {
		option->letter = '\0';
		if (sscanf(line, "      --%31[a-z-] %31[A-Z]", option->name,
			argument) < 1)
			return false;
	}
	memcpy(option->argument, argument, sizeof(argument));
	return true;
}

static void
read_help(struct options *options)
{
	for (const char *line = options->verb->help;
	     line != NULL && options->count < OPTIONS_MAX;
	     line = strchr(line, '\n')) {
		line += *line == '\n';
		options->count += read_line(line, &options->at[options->count]);
	}
}

static void __attribute__((noreturn))
refuse_name(const struct options *options, const char *name)
{
	struct nearest nearest;
	char question[256];

	nearest_begin(&nearest, name);
	for (int i = 0; i < options->count; i++)
		nearest_offer(&nearest, options->at[i].name);
	refuse(options, "unknown option --%s%s", name,
	    nearest_question(&nearest, "--", question, sizeof(question)));
}

/* The option of this name, or the only one that begins so. */
static const struct option *
find(const struct options *options, const char *name)
{
	const struct option *first = NULL, *other = NULL;

	for (int i = 0; i < options->count; i++) {
		const struct option *o = &options->at[i];

		if (strcmp(o->name, name) == 0)
			return o;
		if (strncmp(o->name, name, strlen(name)) != 0)
			continue;
		if (first == NULL)
			first = o;
		else
			other = o;
	}
	if (first == NULL || *name == '\0')
		refuse_name(options, name);
	if (other != NULL)
		refuse(options, "--%s can mean --%s and --%s; write more of it",
		    name, first->name, other->name);
	return first;
}

static const struct option *
find_letter(const struct options *options, const char *word)
{
	for (int i = 0; i < options->count; i++)
		if (options->at[i].letter == word[1] && word[1] != '\0' &&
		    word[2] == '\0')
			return &options->at[i];
	refuse(options, "unknown option %.64s", word);
}

static char *
whole(const struct option *option, const char *value)
{
	char *word;

	if (asprintf(&word, "--%s%s%s", option->name, value ? "=" : "",
		value ? value : "") < 0)
		abort();
	return word;
}

/* Take an option from the front; returns the number of words. */
static int
take(const struct options *options, int left, char **argv, char **word)
{
	char name[NAME_BYTES * 2] = "";
	const char *value = strchr(argv[0], '=');
	const struct option *option;
	int used = 1;

	if (argv[0][0] != '-')
		refuse(options, "unexpected argument '%.64s'", argv[0]);
	if (argv[0][1] != '-') {
		option = find_letter(options, argv[0]);
		value = NULL;
	} else {
		sscanf(argv[0] + 2, "%63[^=]", name);
		option = find(options, name);
	}
	if (option->argument[0] == '\0') {
		if (value != NULL)
			refuse(options, "--%s takes no value", option->name);
		*word = whole(option, NULL);
		return 1;
	}
	if (value != NULL)
		value++;
	else if (left > 1)
		value = argv[used++];
	if (value == NULL || *value == '\0')
		refuse(
		    options, "--%s needs %s", option->name, option->argument);
	*word = whole(option, value);
	return used;
}

char **
verb_options_read(const struct verb *verb, int argc, char **argv, int *count)
{
	struct options options = { .verb = verb };
	char **words = calloc((size_t)argc + 1, sizeof(*words));

	if (words == NULL)
		abort();
	read_help(&options);
	*count = 0;
	for (int i = 0; i < argc;)
		i += take(&options, argc - i, argv + i, &words[(*count)++]);
	return words;
}
