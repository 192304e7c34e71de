/*
 * opt - one table is command line, configuration, --help and completion.
 * SPDX-License-Identifier: MIT
 */
#include "proto/opt.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/clock.h"
#include "proto/conf.h"
#include "proto/log.h"
#include "proto/number.h"

enum { ORIGINS_MAX = 128, HELP_COLUMN = 27, LINE_COLUMNS = 79 };

struct opt_common_values opt_common_values = { .log = LOG_INFO };

const struct opt opt_common[] = {
	{ "dir", 0, OPT_TEXT, &opt_common_values.dir, "DIR",
	    "the instance: endpoints, store and spool are there", NULL, false },
	{ "config", 0, OPT_TEXT, &opt_common_values.config, "FILE",
	    "configuration file", NULL, false },
	{ "log", 0, OPT_CHOICE, &opt_common_values.log, "LEVEL",
	    "how much to say: error, warn, info, debug",
	    "error|warn|info|debug", false },
	{ "quiet", 'q', OPT_FLAG, &opt_common_values.quiet, NULL,
	    "no progress, no remarks", NULL, false },
	{ .name = NULL },
};

/* Where each value came from, by the address of the value. */
static struct {
	const void *to;
	enum opt_from from;
} origins[ORIGINS_MAX];
static const struct opt_program *program; /* only while parsing */
static const char *program_name = "poolscope";

static void
note_origin(const struct opt *opt, enum opt_from from)
{
	for (unsigned i = 0; i < ORIGINS_MAX; i++) {
		if (origins[i].to == opt->to || origins[i].to == NULL) {
			origins[i].to = opt->to;
			origins[i].from = from;
			return;
		}
	}
	abort(); /* a program with more options than ORIGINS_MAX: our bug */
}

enum opt_from
opt_origin(const struct opt *opt)
{
	for (unsigned i = 0; i < ORIGINS_MAX && origins[i].to != NULL; i++)
		if (origins[i].to == opt->to)
			return origins[i].from;
	return OPT_DEFAULT;
}

void
opt_usage(const char *format, ...)
{
	char what[ERR_BYTES - 100];
	struct err err;
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	log_init(program_name, LOG_INFO);
	err_set(&err, "%s (%s --help lists the options)", what, program_name);
	log_fail(&err);
	exit(2);
}

static int
set_choice(const struct opt *opt, const char *value, struct err *err)
{
	size_t bytes = strlen(value);
	int index = 0;

	for (const char *p = opt->choices; p != NULL; index++) {
		size_t n = strcspn(p, "|");

		if (n == bytes && memcmp(p, value, n) == 0) {
			*(int *)opt->to = index;
			return 0;
		}
		p = p[n] == '|' ? p + n + 1 : NULL;
	}
	return err_set(err, "is one of %s", opt->choices);
}

static int
set_value(const struct opt *opt, const char *value, struct err *err)
{
	struct text t = text_of(value);
	struct opt_list *list = opt->to;

	switch (opt->type) {
	case OPT_FLAG:
		if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
			return err_set(err, "is true or false");
		*(bool *)opt->to = value[0] == 't';
		return 0;
	case OPT_TEXT: *(const char **)opt->to = value; return 0;
	case OPT_LIST:
		if (list->count == OPT_LIST_MAX)
			return err_set(
			    err, "is there more than %d times", OPT_LIST_MAX);
		list->at[list->count++] = value;
		return 0;
	case OPT_COUNT: return number_parse_u64(t, opt->to, err);
	case OPT_BYTES: return number_parse_bytes(t, opt->to, err);
	case OPT_DURATION:
		if (clock_parse_duration(t, opt->to, err) != 0)
			return -1;
		if (*(int64_t *)opt->to < 0)
			return err_set(err, "'%.64s' is negative", value);
		return 0;
	case OPT_TIME:
		return clock_parse_time(t, clock_wall_ns(), opt->to, err);
	case OPT_CHOICE: return set_choice(opt, value, err);
	}
	return err_set(err, "has no type");
}

int
opt_set(const struct opt *opt, const char *value, struct err *err)
{
	if (set_value(opt, value, err) != 0)
		return err_prefix(err, "--%s", opt->name);
	note_origin(opt, OPT_FILE);
	return 0;
}

static const struct opt *
find(const char *name, size_t bytes, char letter)
{
	for (const struct opt *const *t = program->tables; *t != NULL; t++)
		for (const struct opt *o = *t; o->name != NULL; o++)
			if (name ? strlen(o->name) == bytes &&
				       memcmp(o->name, name, bytes) == 0
				 : o->letter == letter && letter != 0)
				return o;
	return NULL;
}

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

static void
help(void)
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
	exit(0);
}

static void
set_or_exit(const struct opt *opt, const char *value, enum opt_from from,
    const char *as)
{
	struct err err;

	if (set_value(opt, value, &err) != 0)
		opt_usage("%s: %s", as, err.text);
	note_origin(opt, from);
}

/* --name, --name=VALUE, --name VALUE; returns how many words it took. */
static int
take_long(char **argv, int left)
{
	const char *name = argv[0] + 2;
	size_t bytes = strcspn(name, "=");
	const struct opt *opt = find(name, bytes, 0);
	char as[80];

	snprintf(
	    as, sizeof(as), "--%.*s", (int)(bytes > 64 ? 64 : bytes), name);
	if (strcmp(name, "help") == 0)
		help();
	if (strcmp(name, "version") == 0) {
		printf("%s %s\n", program->name, VERSION);
		exit(0);
	}
	if (opt == NULL && bytes > 3 && memcmp(name, "no-", 3) == 0 &&
	    name[bytes] == '\0') {
		opt = find(name + 3, bytes - 3, 0);
		if (opt != NULL && opt->type == OPT_FLAG) {
			set_or_exit(opt, "false", OPT_COMMAND_LINE, as);
			return 1;
		}
		opt = NULL;
	}
	if (opt == NULL)
		opt_usage("unknown option %s", as);
	if (opt->type == OPT_FLAG) {
		set_or_exit(opt, name[bytes] == '=' ? name + bytes + 1 : "true",
		    OPT_COMMAND_LINE, as);
		return 1;
	}
	if (name[bytes] == '=') {
		set_or_exit(opt, name + bytes + 1, OPT_COMMAND_LINE, as);
		return 1;
	}
	if (left < 2)
		opt_usage("%s needs %s", as, opt->argument);
	set_or_exit(opt, argv[1], OPT_COMMAND_LINE, as);
	return 2;
}

/* -abc, -pVALUE, -p VALUE. */
static int
take_short(char **argv, int left)
{
	for (const char *p = argv[0] + 1; *p != '\0'; p++) {
		const struct opt *opt = find(NULL, 0, *p);
		char as[3] = { '-', *p, '\0' };

		if (opt == NULL)
			opt_usage("unknown option %s", as);
		if (opt->type == OPT_FLAG) {
			set_or_exit(opt, "true", OPT_COMMAND_LINE, as);
			continue;
		}
		if (p[1] != '\0') {
			set_or_exit(opt, p + 1, OPT_COMMAND_LINE, as);
			return 1;
		}
		if (left < 2)
			opt_usage("%s needs %s", as, opt->argument);
		set_or_exit(opt, argv[1], OPT_COMMAND_LINE, as);
		return 2;
	}
	return 1;
}

/* POOLSCOPE_SPOOL_BYTES for --spool-bytes. */
static void
take_environment(const struct opt *opt)
{
	char name[80] = "POOLSCOPE_";
	size_t used = strlen(name);
	const char *value;

	if (opt_origin(opt) != OPT_DEFAULT)
		return;
	for (const char *p = opt->name; *p && used < sizeof(name) - 1; p++)
		name[used++] = *p == '-'                ? '_'
			       : *p >= 'a' && *p <= 'z' ? (char)(*p - 'a' + 'A')
							: *p;
	name[used] = '\0';
	value = getenv(name);
	if (value != NULL && *value != '\0')
		set_or_exit(opt, value, OPT_ENVIRONMENT, name);
}

static void
take_weaker(void)
{
	struct err err;

	for (const struct opt *const *t = program->tables; *t != NULL; t++)
		for (const struct opt *o = *t; o->name != NULL; o++)
			take_environment(o);
	if (opt_common_values.config != NULL &&
	    conf_load(opt_common_values.config, program, &err) != 0) {
		log_init(program->name, LOG_INFO);
		log_fail(&err);
		exit(2);
	}
	for (const struct opt *const *t = program->tables; *t != NULL; t++)
		for (const struct opt *o = *t; o->name != NULL; o++)
			if ((o->flags & OPT_REQUIRED) != 0 &&
			    opt_origin(o) == OPT_DEFAULT)
				opt_usage(
				    "--%s %s is missing", o->name, o->argument);
}

void
opt_parse(const struct opt_program *what, int argc, char **argv,
    struct opt_operands *operands)
{
	bool ended = false;
	uint32_t count = 0;

	program = what;
	program_name = what->name;
	for (int i = 1; i < argc;) {
		if (!ended && strcmp(argv[i], "--") == 0) {
			ended = true;
			i++;
		} else if (!ended && strncmp(argv[i], "--", 2) == 0) {
			i += take_long(argv + i, argc - i);
		} else if (!ended && argv[i][0] == '-' && argv[i][1] != '\0') {
			i += take_short(argv + i, argc - i);
		} else {
			argv[1 + count++] = argv[i++];
		}
	}
	if (count < what->operands_min)
		opt_usage("an argument is missing: %s %s", what->name,
		    what->synopsis);
	if (count > what->operands_max)
		opt_usage("one argument too many: '%.64s'",
		    argv[1 + what->operands_max]);
	take_weaker();
	program = NULL;
	log_init(what->name, (enum log_level)opt_common_values.log);
	if (operands != NULL)
		*operands = (struct opt_operands){ argv + 1, count };
}
