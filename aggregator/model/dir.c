/*
 * dir - the default directory of models.
 * SPDX-License-Identifier: MIT
 */
#include "aggregator/model/dir.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proto/os/log.h"

const char *
model_dir_find(char to[static MODEL_DIR_BYTES])
{
	/* Relative to the program: a build, a build of a variant, an
	 * installation. */
	static const char *const relative[] = { "../../deploy/models",
		"../../../deploy/models", "../share/poolscope/models" };
	enum { FOLDERS = sizeof(relative) / sizeof(*relative) };
	char program[PATH_MAX];
	ssize_t bytes =
	    readlink("/proc/self/exe", program, sizeof(program) - 1);
	char *slash;

	program[bytes > 0 ? bytes : 0] = '\0';
	slash = strrchr(program, '/');
	for (unsigned i = 0; slash != NULL && i < FOLDERS; i++) {
		snprintf(to, MODEL_DIR_BYTES, "%.*s/%s", (int)(slash - program),
		    program, relative[i]);
		if (access(to, R_OK | X_OK) == 0)
			return to;
	}
	if (access(DATADIR "/models", R_OK | X_OK) == 0)
		return DATADIR "/models";
	return NULL;
}

const char *
model_dir(char to[static MODEL_DIR_BYTES])
{
	const char *found = model_dir_find(to);

	if (found == NULL)
		log_warn("no models at %s; only phases without a model will be "
			 "derived",
		    DATADIR "/models");
	return found;
}
