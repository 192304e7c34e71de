/*
 * opt_show - prints the options of a program, with the values in force.
 * SPDX-License-Identifier: MIT
 */
#include "proto/config/opt_show.h"

#include "proto/base/text.h"
#include "proto/config/default_dir.h"
#include "proto/config/opt_section.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *
name_of(const struct opt_program *program)
{
	const char *dash = strchr(program->name, '-');

	return dash ? dash + 1 : program->name;
}

/* The next value of an option that the program accepts; NULL: no more. */
static const struct opt_value *
next_taken(const struct opt_program *program, uint32_t *next)
{
	const struct opt_value *v;

	while ((v = opt_value_at((*next)++)) != NULL)
		if (opt_is_taken(program, v->opt))
			return v;
	return NULL;
}

static void
show_table(const struct opt_program *program, bool origins)
{
	const char *name = name_of(program);
	char text[1024], origin[512];
	const struct opt_value *v;

	for (uint32_t i = 0; (v = next_taken(program, &i)) != NULL;) {
		opt_value_text(v, text, sizeof(text));
		opt_value_origin(v, origin, sizeof(origin));
		if (origins)
			printf("%-10s  %-20s  %-30s  %s\n", name, v->opt->name,
			    text, origin);
		else
			printf("%-10s  %-20s  %s\n", name, v->opt->name, text);
	}
}

static void
put_json(const char *text)
{
	char quoted[1024];

	if (text == NULL) {
		printf("null");
		return;
	}
	if (!text_is_utf8(text_of(text)))
		text = text_quote(quoted, sizeof(quoted), text_of(text));
	putchar('"');
	for (; *text != '\0'; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			printf("\\u%04x", (unsigned)(unsigned char)*text);
		else if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else
			putchar(*text);
	}
	putchar('"');
}

static void
put_json_value(const struct opt_value *v)
{
	char text[1024] = "";
	bool list = v->opt->type == OPT_LIST;

	if (v->from == OPT_DEFAULT && !list) {
		opt_value_default(v, text, sizeof(text));
		put_json(text[0] ? text : NULL);
		return;
	}
	if (list)
		putchar('[');
	for (uint32_t i = 0; i < v->count; i++) {
		printf("%s", i > 0 ? ", " : "");
		put_json(v->words[i]);
	}
	if (list)
		putchar(']');
}

static void
show_json(const struct opt_program *program)
{
	static const char *const types[] = {
		[OPT_FLAG] = "flag",
		[OPT_TEXT] = "text",
		[OPT_LIST] = "list",
		[OPT_COUNT] = "count",
		[OPT_BYTES] = "bytes",
		[OPT_DURATION] = "duration",
		[OPT_TIME] = "time",
		[OPT_ZONE] = "zone",
		[OPT_CHOICE] = "choice",
	};
	static const char *const from[] = { "default", "file", "environment",
		"command line" };
	const struct opt_value *v;
	char origin[512];
	uint32_t i = 0;

	printf("{\"program\": \"%s\", \"options\": [", name_of(program));
	for (bool first = true; (v = next_taken(program, &i)) != NULL;
	     first = false) {
		char letter[2] = { v->opt->letter, '\0' };

		printf("%s\n  {\"name\": \"%s\", \"letter\": ",
		    first ? "" : ",", v->opt->name);
		put_json(v->opt->letter ? letter : NULL);
		printf(
		    ", \"type\": \"%s\", \"argument\": ", types[v->opt->type]);
		put_json(v->opt->argument);
		printf(", \"choices\": ");
		put_json(v->opt->choices);
		printf(", \"help\": ");
		put_json(v->opt->help);
		printf(", \"value\": ");
		put_json_value(v);
		printf(", \"from\": \"%s\", \"origin\": ", from[v->from]);
		put_json(opt_value_origin(v, origin, sizeof(origin)));
		printf(", \"reload\": %s, \"command\": %s}",
		    v->opt->flags & OPT_RELOAD ? "true" : "false",
		    v->opt->flags & OPT_COMMAND ? "true" : "false");
	}
	printf("\n]}\n");
}

static void
show_section(const struct opt *opt, const char *key)
{
	struct text part;

	printf("\t#%s \"NAME\" {", key);
	for (uint32_t i = 0; (part = opt_section_key(opt, i)).bytes > 0; i++)
		printf(" %.*s = \"...\"", (int)part.bytes, part.at);
	printf(" }\n");
}

/* A key with its default, or with the type of its value. */
static void
show_key(const struct opt_value *v)
{
	char text[256], key[64];
	size_t i;

	for (i = 0; v->opt->name[i] != '\0' && i < sizeof(key) - 1; i++)
		key[i] = v->opt->name[i] == '-' ? '_' : v->opt->name[i];
	key[i] = '\0';
	opt_value_default(v, text, sizeof(text));
	printf("\t# %s%s\n", v->opt->help,
	    v->opt->flags & OPT_RELOAD ? " [HUP]" : "");
	if (opt_section_is(v->opt))
		show_section(v->opt, key);
	else if (v->opt->type == OPT_LIST)
		printf("\t#%s = { \"%s\" }\n", key, v->opt->argument);
	else
		printf(
		    "\t#%s = \"%s\"\n", key, text[0] ? text : v->opt->argument);
}

/* A program that reads the section of another prints nothing. */
static void
show_example(const struct opt_program *program)
{
	const struct opt_value *v;

	if (program->section != NULL)
		return;
	printf("%s {\n", name_of(program));
	for (uint32_t i = 0; (v = opt_value_at(i)) != NULL; i++) {
		bool common = false;

		for (const struct opt *o = opt_common; o->name != NULL; o++)
			common = common || o == v->opt;
		if (!common && (v->opt->flags & OPT_COMMAND) == 0)
			show_key(v);
	}
	printf("}\n");
}

static void
show_instance(void)
{
	char dir[DEFAULT_DIR_BYTES];
	struct err err;

	if (default_dir(dir, opt_common_values.dir, &err) == 0)
		printf("instance %s\n", dir);
}

int
opt_show_format(const char *word)
{
	static const char *const words[] = { "table", "origin", "json",
		"example", "check" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(word, words[i]) == 0)
			return (int)i;
	return -1;
}

void
opt_show(const struct opt_program *program, enum opt_show_format format)
{
	switch (format) {
	case OPT_SHOW_TABLE: show_table(program, false); break;
	case OPT_SHOW_ORIGIN: show_table(program, true); break;
	case OPT_SHOW_JSON: show_json(program); break;
	case OPT_SHOW_EXAMPLE: show_example(program); break;
	case OPT_SHOW_CHECK: show_instance(); break;
	}
}

enum { HELP_COLUMN = 27, LINE_COLUMNS = 79 };

/* Print the words of `text`; `used` columns are occupied, continuation lines
 * begin at `column`, except lines that the text itself begins. */
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

/* Print `text` from column HELP_COLUMN on; `used` columns are occupied. */
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

static void
help_option(const struct opt *opt)
{
	char letter[8] = "    ";

	if (opt->letter != 0)
		snprintf(letter, sizeof(letter), "-%c, ", opt->letter);
	print_wrapped(opt->help,
	    printf("  %s--%s%s%s", letter, opt->name, opt->argument ? " " : "",
		opt->argument ? opt->argument : ""));
}

static void
help_usage(const struct opt_program *program, const struct opt_topic *topic)
{
	int column = printf("usage: %s ", program->name);

	if (topic == NULL) {
		print_words(program->synopsis, column, column);
		printf("\n");
		print_words(program->summary, 0, 0);
		return;
	}
	printf("%s%s [options]\n\n", topic->word, topic->synopsis);
	print_words(topic->summary, 0, 0);
}

static void
help_topics(const struct opt_topic *topics)
{
	printf("\n");
	for (const struct opt_topic *t = topics; t->word != NULL; t++) {
		char name[80];

		snprintf(name, sizeof(name), "%s%s", t->word, t->synopsis);
		print_wrapped(t->summary, printf("  %s", name));
	}
}

void
opt_help(
    const struct opt_program *program, const struct opt_topic *topic, bool all)
{
	const char *examples = topic ? topic->examples : program->examples;

	help_usage(program, topic);
	if (topic == NULL && program->topics != NULL)
		help_topics(program->topics);
	printf("\noptions:\n");
	for (const struct opt_table *t = program->tables; t->options != NULL;
	     t++)
		for (const struct opt *o = t->options; o->name != NULL; o++)
			if (opt_is_taken(program, o) &&
			    (all || (o->flags & OPT_SELDOM) == 0) &&
			    (topic == NULL || opt_topic_takes(topic, o)))
				help_option(o);
	print_wrapped(topic == NULL && program->topics != NULL
			  ? "this text; after WHAT: more about it"
			  : "this text",
	    printf("  -h, --help"));
	print_wrapped("also the options of many programs: --dir, --log ...",
	    printf("      --help-all"));
	print_wrapped("the version", printf("      --version"));
	if (examples == NULL)
		return;
	printf("\nexamples:\n");
	for (struct text rest = text_of(examples), line;
	     text_next_line(&rest, &line);)
		printf("  %.*s\n", (int)line.bytes, line.at);
}
