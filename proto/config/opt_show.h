/*
 * opt_show - prints the options of a program: --help, --print-options.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CONFIG_OPT_SHOW_H
#define PROTO_CONFIG_OPT_SHOW_H

#include "proto/config/opt_value.h"

/* What --help prints; `topic`: of this one only, else NULL; `all`: also the
 * options with OPT_SELDOM. */
void opt_help(
    const struct opt_program *program, const struct opt_topic *topic, bool all);

/* --print-options FORMAT, on standard output:
 *
 *     table    one line per option: program, option, value in force
 *     origin   the same with its origin
 *     json     {"program": "agent", "options": [{"name": "period",
 *              "letter": null, "type": "duration", "argument": "DURATION",
 *              "choices": null, "help": "...", "value": "10s" (a list of
 *              texts, null), "origin": "default", "from": "default" (file,
 *              environment, command line), "reload": true,
 *              "command": false}, ...]}
 *     example  the section of an example configuration, all commented
 *     check    "instance DIR" and, for each file that was read, "file PATH";
 *              their errors were reported before */
enum opt_show_format {
	OPT_SHOW_TABLE,
	OPT_SHOW_ORIGIN,
	OPT_SHOW_JSON,
	OPT_SHOW_EXAMPLE,
	OPT_SHOW_CHECK
};
/* The format of this name, or -1. */
int opt_show_format(const char *word);
void opt_show(const struct opt_program *program, enum opt_show_format format);

#endif
