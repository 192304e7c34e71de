/*
 * opt_table - the table of the options of a program.
 *
 * opt.h reads the command line by it, config.h the configuration.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CONFIG_OPT_TABLE_H
#define PROTO_CONFIG_OPT_TABLE_H

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
	OPT_TIME,     /* int64_t * ns: clock_parse_time, or one of `choices` */
	OPT_ZONE,     /* const char **: clock_set_zone, for all OPT_TIME */
	OPT_CHOICE,   /* int *: index in `choices` ("table|json|csv") */
};

enum { OPT_LIST_MAX = 64 };

/* What OPT_TIME is after the word of this index: before all times. */
#define OPT_TIME_WORD(index) (INT64_MIN + (index))

struct opt_list {
	const char *at[OPT_LIST_MAX];
	uint32_t count;
};

enum opt_flags {
	OPT_REQUIRED = 1,
	OPT_RELOAD = 2,  /* HUP may change it in a running service */
	OPT_COMMAND = 4, /* an action: on the command line only */
	OPT_SELDOM = 8,  /* of many programs: only --help-all lists it */
	OPT_OUTPUT = 16, /* how or where an answer is printed, or of which
			  * other file: not for who asks from another host */
};

struct opt {
	const char *name; /* "spool-bytes"; NULL ends the table */
	char letter;      /* 'p', or 0 */
	enum opt_type type;
	/* The variable, or OPT_TO; it has the default before parsing. */
	void *to;
	const char *argument; /* "BYTES" for --help; NULL for flags */
	const char *help;     /* one line, begins lower-case, no full stop */
	const char *choices;  /* OPT_CHOICE, OPT_TIME, OPT_LIST of sections
				 (opt_section.h); NULL: none */
	unsigned flags;       /* enum opt_flags, or-ed; 0: none */
};

/* A member of the struct that struct opt_table binds to the option; what is
 * left out behind the help is zero. */
#define OPT_TO(type, member) .to = ((void *)offsetof(type, member))

/* Options, and the struct that gets their values.  The same options may be
 * listed twice, with two structs. */
struct opt_table {
	const struct opt *options; /* NULL ends the list of tables */
	void *values; /* NULL: each option names its variable itself */
};

/* A kind of question that a program answers: its first operand. */
struct opt_topic {
	const char *word; /* NULL ends the list */
	/* The words behind it, which are counted: " TEST [ENTRY]"; "": none;
	 * " | " is between alternatives, and "..." allows any number. */
	const char *synopsis;
	const char *summary;
	/* Names of the options that it takes, with a blank between them; those
	 * with OPT_SELDOM it takes always. */
	const char *options;
	const char *examples; /* as those of a program */
};

/* A program, for --help, --version and man page checks. */
struct opt_program {
	const char *name;     /* "poolscope-emit"; not copied */
	const char *synopsis; /* "[options] SOURCE EVENT" */
	const char *summary;  /* "publish one event" */
	/* Two command lines, each ends with a newline; NULL: none. */
	const char *examples;
	const struct opt_table *tables; /* the last one is zeros */
	/* What the first operand may be, and the operands and options that go
	 * with it; NULL: the numbers below count. */
	const struct opt_topic *topics;
	uint32_t operands_min, operands_max;
	/* Checks `values` beyond their types (err_set_option); may be NULL. */
	int (*check)(const void *values, struct err *err);
	const void *values;
	/* The program whose section of the configuration it reads, with the
	 * options of that program; NULL: its own. */
	const char *section;
};

/* Does the command line of the program accept this option of its tables, and
 * --help show it?  Those of no topic get their values from the configuration
 * and the environment. */
bool opt_is_taken(const struct opt_program *program, const struct opt *opt);

/* Does the topic take this option? */
bool opt_topic_takes(const struct opt_topic *topic, const struct opt *opt);

/* Is `word` a valid value of the option?  -1: the reason is in `err`. */
int opt_check(const struct opt *opt, const char *word, struct err *err);

/* Store `word` in the member of `values` that the option names by OPT_TO: for
 * options that do not come from a command line.  `word` must outlive `values`.
 * -1: it is not a valid value, or one more than a list holds. */
int opt_put(
    const struct opt *opt, void *values, const char *word, struct err *err);

/* Options that every program has: --dir, --config, --log, --quiet, (and
 * built in: --help, -h, --help-all, --version). */
extern const struct opt opt_common[];
struct opt_common_values {
	const char *dir; /* NULL: instance_dir() decides */
	const char *config;
	int log; /* enum log_level */
	bool quiet;
};
extern struct opt_common_values opt_common_values;

#endif
