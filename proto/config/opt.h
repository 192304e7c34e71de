/*
 * opt - one table defines command line, configuration, --help and completion.
 *
 * GNU style: --name VALUE, --name=VALUE, -n VALUE, -nVALUE, flags bundled,
 * "--" ends options; options and operands may mix.  An unknown option or
 * invalid value prints one line on standard error and exits with status 2.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CONFIG_OPT_H
#define PROTO_CONFIG_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"

enum opt_type {
	OPT_FLAG,     /* bool *: --name, --no-name */
	OPT_TEXT,     /* const char ** */
	OPT_LIST,     /* struct opt_list *: may be repeated */
	OPT_COUNT,    /* uint64_t * */
	OPT_BYTES,    /* uint64_t *: number_parse_bytes */
	OPT_DURATION, /* int64_t * ns: clock_parse_duration */
	OPT_TIME,     /* int64_t * ns: clock_parse_time */
	OPT_CHOICE,   /* int *: index in `choices` ("table|json|csv") */
};

enum { OPT_LIST_MAX = 64 };

struct opt_list {
	const char *at[OPT_LIST_MAX];
	uint32_t count;
};

enum opt_from { OPT_DEFAULT, OPT_FILE, OPT_ENVIRONMENT, OPT_COMMAND_LINE };

enum opt_flags {
	OPT_REQUIRED = 1,
	OPT_RELOAD = 2, /* HUP may change it in a running service */
	OPT_COMMAND =
	    4, /* on the command line only: an action, not a setting */
};

struct opt {
	const char *name; /* "spool-bytes"; NULL ends the table */
	char letter;      /* 'p', or 0 */
	enum opt_type type;
	void *to;             /* the variable, or OPT_TO: one of a value that
				 is bound by struct opt_table; it holds the
				 default before parsing */
	const char *argument; /* "BYTES" for --help; NULL for flags */
	const char *help;     /* one line, begins lower-case, no full stop */
	const char *choices;  /* OPT_CHOICE */
	unsigned flags;       /* OPT_REQUIRED, OPT_RELOAD or none: 0, false */
};

/* In a table that is bound: the member of the struct. */
#define OPT_TO(type, member) ((void *)offsetof(type, member))

/* Options, and the value that holds them.  The same options may be listed
 * twice, with two values. */
struct opt_table {
	const struct opt *options; /* NULL ends the list of tables */
	void *values; /* NULL: each option names its variable itself */
};

/* A program, for --help, --version and man page checks. */
struct opt_program {
	const char *name;               /* "poolscope-emit"; not copied */
	const char *synopsis;           /* "[options] SOURCE EVENT" */
	const char *summary;            /* "publish one event" */
	const struct opt_table *tables; /* the last one is zeros */
	uint32_t operands_min, operands_max;
	/* Checks the values together, or beyond their types (err_set_option).
	 * It gets `values`.  May be NULL. */
	int (*check)(const void *values, struct err *err);
	const void *values;
	/* The section of the configuration that it reads, when that is another
	 * program's; it has the options of that program. */
	const char *section;
	/* Names of the options that the command line accepts and --help shows;
	 * the others get their values from the configuration and the
	 * environment.  NULL: all.  Those of opt_common are always accepted. */
	const char *const *takes;
};

/* Does the command line of the program accept this option of its tables? */
bool opt_is_taken(const struct opt_program *program, const struct opt *opt);

struct opt_operands {
	char **at;
	uint32_t count;
};

/* Parse; on --help, --version or wrong usage it prints and exits (0 or 2).
 * Precedence: command line, environment (POOLSCOPE_SPOOL_BYTES), configuration
 * (config.h): --config, else the instance's.  Texts point into argv, the
 * environment or memory that lives as long as the process.  `program` and its
 * tables may be gone after this, unless the configuration is reloaded.
 *
 * For the front command every program also has --print-options FORMAT: it
 * parses everything else, prints the options (opt_show.h) and exits. */
void opt_parse(const struct opt_program *program, int argc, char **argv,
    struct opt_operands *operands);

/* Read the configuration again.  0: the options with OPT_RELOAD have their new
 * values, and `check` accepted them; then call either opt_reload_keep, which
 * logs the changes, or opt_reload_undo.  -1 and a sentence with file and line:
 * nothing was changed. */
int opt_reload(const struct opt_program *program, struct err *err);
void opt_reload_keep(void);
void opt_reload_undo(void);

/* Is `word` a valid value of the option?  -1: the reason is in `err`. */
int opt_check(const struct opt *opt, const char *word, struct err *err);

/* Set an option as a configuration file would; for tests that parse nothing. */
int opt_set(const struct opt *opt, const char *word, struct err *err);

/* The origin of the value in force; OPT_DEFAULT also when nothing was parsed.
 * For an option that is listed once, and by its variable. */
enum opt_from opt_origin(const struct opt *opt);
enum opt_from opt_origin_of(const void *variable);

/* Print "program: sentence" and a hint to --help; exit 2. */
void opt_usage(const char *format, ...)
    __attribute__((noreturn, format(printf, 1, 2)));

/* Options that every program has: --dir, --config, --log, --quiet, (and
 * built in: --help, --version). */
extern const struct opt opt_common[];
struct opt_common_values {
	const char *dir; /* NULL: instance_dir() decides */
	const char *config;
	int log; /* enum log_level */
	bool quiet;
};
extern struct opt_common_values opt_common_values;

/* Log as --log and --quiet say: opt_parse does it, and a reload. */
void opt_set_log_level(void);

#endif
