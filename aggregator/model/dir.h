/*
 * dir - the default directory of models.
 * SPDX-License-Identifier: MIT
 */
#ifndef AGGREGATOR_MODEL_DIR_H
#define AGGREGATOR_MODEL_DIR_H

#include <limits.h>

enum { MODEL_DIR_BYTES = PATH_MAX + 32 };

/* The models next to the program (build tree or installation), else the
 * installed ones.  Returns NULL and logs a warning when there are none. */
const char *model_dir(char to[static MODEL_DIR_BYTES]);
/* The same without the warning. */
const char *model_dir_find(char to[static MODEL_DIR_BYTES]);

#endif
