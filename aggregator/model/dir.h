/*
 * model_dir - where the models are when nobody says.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_MODEL_DIR_H
#define AGGREGATOR_MODEL_DIR_H

#include <limits.h>

enum { MODEL_DIR_BYTES = PATH_MAX + 32 };

/* Those beside the program in a build tree, else the installed ones; NULL,
 * and a line in the log, when there are none. */
const char *model_dir(char to[static MODEL_DIR_BYTES]);
/* The same without a word. */
const char *model_dir_find(char to[static MODEL_DIR_BYTES]);

#endif
