/*
 * default_dir - the default instance directory.
 * SPDX-License-Identifier: MIT
 */
#include "proto/config/default_dir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The value of a variable that is set and not empty. */
static const char *
variable(const char *name)
{
	const char *value = secure_getenv(name);

	return value != NULL && *value != '\0' ? value : NULL;
}

int
default_dir(char to[static DEFAULT_DIR_BYTES], const char *dir, struct err *err)
{
	const char *below = "";
	char here[DEFAULT_DIR_BYTES] = "";
	int n;

	if (dir == NULL)
		dir = variable("POOLSCOPE_DIR");
	if (dir == NULL && geteuid() == 0)
		dir = "/var/lib/poolscope";
	if (dir == NULL && (dir = variable("XDG_STATE_HOME")) != NULL)
		below = "/poolscope";
	if (dir == NULL && (dir = variable("HOME")) != NULL)
		below = "/.local/state/poolscope";
	if (dir == NULL)
		return err_set(
		    err, "no instance: give --dir or set POOLSCOPE_DIR");
	if (dir[0] != '/' && getcwd(here, sizeof(here)) == NULL)
		return err_set(err, "current directory: %s", strerror(errno));
	n = snprintf(to, DEFAULT_DIR_BYTES, "%s%s%s%s", here,
	    dir[0] != '/' ? "/" : "", dir, below);
	if (n >= 0 && n < DEFAULT_DIR_BYTES)
		return 0;
	return err_set(err, "the instance directory is longer than %d bytes",
	    DEFAULT_DIR_BYTES - 1);
}
