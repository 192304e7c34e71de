/*
 * opt - one table defines command line, configuration, --help and completion.
 * SPDX-License-Identifier: MIT
 */
#include "proto/config/opt.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/err.h"
#include "proto/base/nearest.h"
#include "proto/base/version.h"
#include "proto/config/config.h"
#include "proto/config/opt_show.h"
#include "proto/config/opt_value.h"
#include "proto/config/opt_topic.h"
#include "proto/os/file_io.h"
#include "proto/os/log.h"

struct opt_common_values opt_common_values = { .log = LOG_INFO };

const struct opt opt_common[] = {
	{ "dir", 0, OPT_TEXT, .to = &opt_common_values.dir, "DIR",
	    "instance directory: endpoints, store and spool",
	    .flags = OPT_SELDOM },
	{ "config", 0, OPT_TEXT, .to = &opt_common_values.config, "FILE",
	    "configuration file (default: poolscope.conf of the instance)",
	    .flags = OPT_COMMAND | OPT_SELDOM },
	{ "log", 0, OPT_CHOICE, .to = &opt_common_values.log, "LEVEL",
	    "log messages of this level and above: error, warn, info, debug",
	    "error|warn|info|debug", .flags = OPT_RELOAD | OPT_SELDOM },
	{ "quiet", 'q', OPT_FLAG, .to = &opt_common_values.quiet, NULL,
	    "print errors only: no progress, remarks and warnings",
	    .flags = OPT_RELOAD | OPT_SELDOM },
	{ .name = NULL },
};

static const struct opt_program *program; /* only while parsing */
static const char *program_name = "poolscope";
static char **words; /* of the command line */

/* --print-options, which --help does not list. */
static bool shows;
static enum opt_show_format show_format;

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
	exit(STATUS_USAGE);
}

/* Call `offer` with each option that the command line accepts until it returns
 * true; returns that option. */
static const struct opt *
each_taken(bool (*offer)(void *arg, const struct opt *opt), void *arg)
{
	for (const struct opt_table *t = program->tables; t->options != NULL;
	     t++)
		for (const struct opt *o = t->options; o->name != NULL; o++)
			if (opt_is_taken(program, o) && offer(arg, o))
				return o;
	return NULL;
}

static bool
has_letter(void *arg, const struct opt *opt)
{
	return opt->letter == *(const char *)arg && opt->letter != 0;
}

struct long_name {
	const char *at; /* as typed */
	size_t bytes;
	const struct opt *first, *other; /* that begin so */
};

static bool
has_name(void *arg, const struct opt *opt)
{
	struct long_name *name = arg;

	if (strncmp(opt->name, name->at, name->bytes) != 0)
		return false;
	if (opt->name[name->bytes] == '\0')
		return true;
	if (name->first == NULL)
		name->first = opt;
	else if (strcmp(name->first->name, opt->name) != 0)
		name->other = opt;
	return false;
}

/* The option of this name, or the only one that begins so; NULL: none. */
static const struct opt *
find(const char *at, size_t bytes)
{
	struct long_name name = { .at = at, .bytes = bytes };
	const struct opt *found = each_taken(has_name, &name);

	if (found != NULL || bytes == 0)
		return found;
	if (name.other != NULL)
		opt_usage("--%.*s can mean --%s and --%s; write more of it",
		    (int)bytes, at, name.first->name, name.other->name);
	return name.first;
}

static bool
offer_name(void *arg, const struct opt *opt)
{
	nearest_offer(arg, opt->name);
	return false;
}

static void __attribute__((noreturn))
refuse_option(const char *name, size_t bytes)
{
	char typed[NEAREST_WORD_BYTES], question[256];
	struct nearest nearest;

	snprintf(typed, sizeof(typed), "%.*s", (int)bytes, name);
	nearest_begin(&nearest, typed);
	each_taken(offer_name, &nearest);
	opt_usage("unknown option --%s%s", typed,
	    nearest_question(&nearest, "--", question, sizeof(question)));
}

void
opt_refuse_word(const char *word, const char *list)
{
	char one[NEAREST_WORD_BYTES], question[256];
	struct nearest nearest;

	nearest_begin(&nearest, word);
	for (const char *at = list; *at != '\0'; at += strspn(at, ", ")) {
		size_t bytes = strcspn(at, ",");

		snprintf(one, sizeof(one), "%.*s", (int)bytes, at);
		nearest_offer(&nearest, one);
		at += bytes;
	}
	opt_usage("'%.64s' is not one of %s%s", word, list,
	    nearest_question(&nearest, "", question, sizeof(question)));
}

static void
set_or_exit(const struct opt *opt, const char *value, enum opt_from from,
    const char *as)
{
	struct err err;

	if (opt_value_assign(opt, value, from, &err) != 0)
		opt_usage("%s: %s", as, err.text);
}

static void
set_show_format(const char *word)
{
	int format = opt_show_format(word);

	if (format < 0)
		opt_usage("--print-options: unknown format");
	show_format = (enum opt_show_format)format;
	shows = true;
}

/* The topic that the words name, for --help; they may be in any place. */
static const struct opt_topic *
named_topic(char **argv)
{
	for (char **word = argv; program->topics != NULL && *word != NULL;
	     word++)
		for (const struct opt_topic *t = program->topics;
		     t->word != NULL; t++)
			if (strcmp(*word, t->word) == 0)
				return t;
	return NULL;
}

static void __attribute__((noreturn)) help(bool all)
{
	opt_help(program, named_topic(words + 1), all);
	exit(0);
}

/* Options that are in no table. */
static void
take_built_in(const char *name)
{
	if (strcmp(name, "help") == 0 || strcmp(name, "help-all") == 0)
		help(name[4] != '\0');
	if (strcmp(name, "version") == 0) {
		printf("%s %s\n", program->name, VERSION);
		exit(0);
	}
}

/* --no-name of a flag; NULL: it is none. */
static const struct opt *
find_negated(const char *name, size_t bytes)
{
	const struct opt *opt = NULL;

	if (bytes > 3 && memcmp(name, "no-", 3) == 0 && name[bytes] == '\0')
		opt = find(name + 3, bytes - 3);
	return opt != NULL && opt->type == OPT_FLAG ? opt : NULL;
}

/* --name, --name=VALUE, --name VALUE; returns the number of words consumed. */
static int
take_long(char **argv, int left)
{
	const char *name = argv[0] + 2;
	size_t bytes = strcspn(name, "=");
	const struct opt *opt;
	char as[80];

	take_built_in(name);
	if (strncmp(name, "print-options=", bytes + 1) == 0) {
		set_show_format(name + bytes + 1);
		return 1;
	}
	snprintf(
	    as, sizeof(as), "--%.*s", (int)(bytes > 64 ? 64 : bytes), name);
	opt = find(name, bytes);
	if (opt == NULL) {
		opt = find_negated(name, bytes);
		if (opt == NULL)
			refuse_option(name, bytes);
		set_or_exit(opt, "false", OPT_COMMAND_LINE, as);
		return 1;
	}
	snprintf(as, sizeof(as), "--%s", opt->name);
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
		char as[3] = { '-', *p, '\0' };
		const struct opt *opt = each_taken(has_letter, &as[1]);

		if (opt == NULL && *p == 'h')
			help(false);
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

static void
take_environment(const struct opt *opt)
{
	char name[OPT_VARIABLE_BYTES];
	const char *value;

	if (opt_origin(opt) != OPT_DEFAULT)
		return;
	opt_variable(opt, name);
	value = getenv(name);
	if (value != NULL && *value != '\0')
		set_or_exit(opt, value, OPT_ENVIRONMENT, name);
}

static void
check_required(void)
{
	for (const struct opt_table *t = program->tables; t->options != NULL;
	     t++)
		for (const struct opt *o = t->options; o->name != NULL; o++)
			if ((o->flags & OPT_REQUIRED) != 0 &&
			    opt_origin(o) == OPT_DEFAULT)
				opt_usage(
				    "--%s %s is missing", o->name, o->argument);
}

static int
check_values(const struct opt_program *what, struct err *err)
{
	if (what->check == NULL || what->check(what->values, err) == 0)
		return 0;
	opt_value_locate(err);
	return -1;
}

static void
take_weaker(void)
{
	bool checks = shows && show_format == OPT_SHOW_CHECK;
	struct err err = { 0 };
	struct config config;

	for (const struct opt_table *t = program->tables; t->options != NULL;
	     t++)
		for (const struct opt *o = t->options; o->name != NULL; o++)
			/* The result of a configuration check must not depend
			 * on the environment. */
			if (!checks)
				take_environment(o);
	if (config_read(&config, program, opt_common_values.config, &err) == 0)
		opt_value_apply(&config);
	if (checks)
		for (uint32_t i = 0; i < config.files.count; i++)
			printf("file %s\n", config.files.at[i].path);
	config_clear(&config);
	if (err.code == ERR_NONE)
		check_values(program, &err);
	if (err.code == ERR_OPTION)
		opt_usage("%s", err.text);
	if (err.code == ERR_NONE)
		return;
	log_init(program->name, LOG_INFO);
	log_fail(&err);
	exit(STATUS_USAGE);
}

static void
check_operands(uint32_t count, char **argv)
{
	if (program->topics != NULL) {
		opt_topic_check(program, count, argv + 1);
		return;
	}
	if (count < program->operands_min)
		opt_usage("missing argument: %s %.*s", program->name,
		    (int)strcspn(program->synopsis, "\n"), program->synopsis);
	if (count > program->operands_max)
		opt_usage("unexpected argument '%.64s'",
		    argv[1 + program->operands_max]);
}

static uint32_t
take_words(int argc, char **argv)
{
	bool ended = false;
	uint32_t count = 0;

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
	return count;
}

void
opt_parse(const struct opt_program *what, int argc, char **argv,
    struct opt_operands *operands)
{
	struct err err;
	uint32_t count;

	file_io_catch_limit();
	err_check_output(what->name);
	program = what;
	program_name = what->name;
	words = argv;
	shows = false;
	opt_values_begin(what);
	count = take_words(argc, argv);
	if (!shows)
		check_operands(count, argv);
	take_weaker();
	if (shows) {
		opt_show(what, show_format);
		exit(0);
	}
	check_required();
	if (opt_value_set_zone(&err) != 0)
		opt_usage("%s", err.text);
	program = NULL;
	opt_set_log_level();
	if (operands != NULL)
		*operands = (struct opt_operands){ argv + 1, count };
}

/* ---- while the process runs ---- */

void
opt_set_log_level(void)
{
	enum log_level level = (enum log_level)opt_common_values.log;

	if (opt_common_values.quiet)
		level = LOG_ERROR;
	log_init(program_name, level);
}

static struct config reloaded;

int
opt_reload(const struct opt_program *what, struct err *err)
{
	config_clear(&reloaded);
	if (config_read(&reloaded, what, opt_common_values.config, err) != 0) {
		config_clear(&reloaded);
		return -1;
	}
	opt_value_change(&reloaded);
	if (check_values(what, err) == 0)
		return 0;
	opt_reload_undo();
	return -1;
}

void
opt_reload_keep(void)
{
	opt_value_keep(&reloaded);
	config_clear(&reloaded);
}

void
opt_reload_undo(void)
{
	opt_value_undo();
	config_clear(&reloaded);
}
