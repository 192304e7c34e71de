/*
 * verb_options - the command line of a verb that is a script, as those of the
 * programs: names may be cut, values follow "=" or are the next word, and
 * what is unknown is answered with the nearest.
 *
 * Which options there are is what the help of the verb lists.
 * SPDX-License-Identifier: MIT
 */
#ifndef DEPLOY_VERB_OPTIONS_H
#define DEPLOY_VERB_OPTIONS_H

#include "deploy/verbs.h"

/* Returns a new list of `*count` words: each option in full, its value after
 * "=".  Ends the process with status 2 after a message about wrong usage. */
char **verb_options_read(
    const struct verb *verb, int argc, char **argv, int *count);

#endif
