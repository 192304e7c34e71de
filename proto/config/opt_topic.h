/*
 * opt_topic - a program whose first word chooses, each with its own options.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_CONFIG_OPT_TOPIC_H
#define PROTO_CONFIG_OPT_TOPIC_H

#include "proto/config/opt.h"

/* Exit with status 2 unless the first of the words is one of the program's
 * topics, the others are as many as its synopsis has, and it takes all options
 * of the command line. */
void opt_topic_check(
    const struct opt_program *program, uint32_t count, char **words);

#endif
