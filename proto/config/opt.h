/*
 * opt - one table defines command line, configuration, --help and completion.
 *
 * GNU style: --name VALUE, --name=VALUE, -n VALUE, -nVALUE, flags bundled,
 * "--" ends options; options and operands may mix; a long name may be cut
 * where no other begins like it.  An unknown option or invalid value prints one
 * line on standard error, with the nearest name that exists, and exits with
 * status 2.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CONFIG_OPT_H
#define PROTO_CONFIG_OPT_H

#include <stdint.h>

#include "proto/base/err.h"
#include "proto/config/opt_table.h"

struct opt_operands {
	char **at;
	uint32_t count;
};

/* Parse, and begin the process: a limit of the size of files becomes an error
 * (file_io_catch_limit).  On --help, --version or wrong usage it prints and
 * exits (0 or 2). Precedence: command line, environment
 * (POOLSCOPE_SPOOL_BYTES), configuration (config.h): --config, else the
 * instance's.  Text values point into argv, the environment or memory that
 * lives as long as the process.  `program` and its tables are needed afterwards
 * only to reload the configuration.
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

enum opt_from { OPT_DEFAULT, OPT_FILE, OPT_ENVIRONMENT, OPT_COMMAND_LINE };

/* The origin of the value in force; OPT_DEFAULT also when nothing was parsed.
 * For an option that is listed once, and by its variable. */
enum opt_from opt_origin(const struct opt *opt);
enum opt_from opt_origin_of(const void *variable);

/* Print "program: sentence" and a hint to --help; exit 2. */
void opt_usage(const char *format, ...)
    __attribute__((noreturn, format(printf, 1, 2)));

/* Refuse a word: "'WORD' is not one of LIST; did you mean ...?".  `list` has a
 * comma and a blank between the words. */
void opt_refuse_word(const char *word, const char *list)
    __attribute__((noreturn));

/* Apply --log and --quiet to the log; opt_parse and opt_reload do so. */
void opt_set_log_level(void);

#endif
