/*
 * sandbox - restricts a process to the files and system calls that it needs.
 * SPDX-License-Identifier: MIT
 */
#include "proto/service/sandbox.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/config/config_files.h"
#include "proto/config/instance.h"
#include "proto/net/endpoint.h"
#include "proto/net/libzmq.h"
#include "proto/os/log.h"

/* Sets the error from errno. */
static void
fail(struct sandbox *sandbox, const char *path)
{
	if (sandbox->failed[0] != '\0')
		return;
	sandbox->why = errno;
	snprintf(sandbox->failed, sizeof(sandbox->failed), "%s", path);
}

static void
allow(struct sandbox *sandbox, const char *path, enum confine_use use)
{
	if (confine_allow(&sandbox->confine, path, use) != 0)
		fail(sandbox, path);
}

/* The folder part of a name; "." when it has none. */
static void
folder_of(char to[static PATH_MAX], const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL)
		strcpy(to, ".");
	else if (slash == path)
		strcpy(to, "/");
	else
		snprintf(to, PATH_MAX, "%.*s", (int)(slash - path), path);
}

static bool
is_empty(const char *path)
{
	return path == NULL || path[0] == '\0';
}

void
sandbox_read(struct sandbox *sandbox, const char *path)
{
	char at[PATH_MAX], above[PATH_MAX];

	if (is_empty(path))
		return;
	snprintf(at, sizeof(at), "%s", path);
	while (access(at, F_OK) != 0) {
		folder_of(above, at);
		strcpy(at, above);
	}
	/* Allowing "/" would disable the sandbox. */
	if (strcmp(at, "/") != 0)
		allow(sandbox, at, CONFINE_READ);
}

void
sandbox_read_folder_of(struct sandbox *sandbox, const char *path)
{
	char at[PATH_MAX], real[PATH_MAX];

	if (is_empty(path))
		return;
	folder_of(at, path);
	sandbox_read(sandbox, at);
	if (realpath(path, real) == NULL)
		return;
	folder_of(at, real);
	sandbox_read(sandbox, at);
}

void
sandbox_execute(struct sandbox *sandbox, const char *path)
{
	if (is_empty(path))
		return;
	allow(sandbox, path, CONFINE_EXECUTE);
	sandbox->executes = true;
}

void
sandbox_update(struct sandbox *sandbox, const char *path)
{
	if (!is_empty(path))
		allow(sandbox, path, CONFINE_UPDATE);
}

void
sandbox_write(struct sandbox *sandbox, const char *path)
{
	if (!is_empty(path))
		allow(sandbox, path, CONFINE_WRITE);
}

void
sandbox_write_parent(struct sandbox *sandbox, const char *path)
{
	char at[PATH_MAX];

	if (is_empty(path))
		return;
	folder_of(at, path);
	allow(sandbox, at, CONFINE_WRITE);
}

static bool
in_instance(
    char to[static INSTANCE_PATH_BYTES], const char *option, const char *name)
{
	struct err err;

	return option == NULL && instance_path(to, name, &err) == 0;
}

void
sandbox_write_or(struct sandbox *sandbox, const char *option, const char *name)
{
	char path[INSTANCE_PATH_BYTES];
	struct err err;

	if (in_instance(path, option, name))
		option = path;
	/* If it cannot be created, the code that uses the folder reports it. */
	if (!is_empty(option))
		(void)instance_make_dir(option, &err);
	sandbox_write(sandbox, option);
}

void
sandbox_read_or(struct sandbox *sandbox, const char *option, const char *name)
{
	char path[INSTANCE_PATH_BYTES];

	sandbox_read_folder_of(
	    sandbox, in_instance(path, option, name) ? path : option);
}

void
sandbox_socket_or(struct sandbox *sandbox, const char *option, const char *name)
{
	char path[INSTANCE_PATH_BYTES], folder[PATH_MAX];
	struct err err;

	if (!in_instance(path, option, name)) {
		sandbox_write_parent(sandbox, option);
		return;
	}
	folder_of(folder, path);
	(void)instance_make_dir(folder, &err);
	sandbox_write_parent(sandbox, path);
}

void
sandbox_listeners(
    struct sandbox *sandbox, const struct opt_list *endpoints, const char *name)
{
	for (uint32_t i = 0; i < endpoints->count; i++)
		sandbox_write_parent(sandbox, endpoint_path(endpoints->at[i]));
	if (endpoints->count == 0)
		sandbox_socket_or(sandbox, NULL, name);
}

void
sandbox_sockets(void)
{
	struct err err;

	(void)libzmq_load(&err);
}

void
sandbox_begin(struct sandbox *sandbox)
{
	char path[INSTANCE_PATH_BYTES];
	struct err err;

	*sandbox = (struct sandbox){ 0 };
	if (confine_begin(&sandbox->confine, CONFINE_SERVICE) != 0 ||
	    confine_allow_system(&sandbox->confine) != 0)
		fail(sandbox, "the files of the system");
	sandbox_read(sandbox, "/proc");
	sandbox_read(sandbox, "/etc");
	sandbox_read_folder_of(sandbox, "/etc/resolv.conf");
	sandbox_update(sandbox, "/dev/null");
	if (instance_dir(path, &err) == 0)
		sandbox_read(sandbox, path);
	if (opt_common_values.config != NULL)
		sandbox_read_folder_of(sandbox, opt_common_values.config);
	else if (config_default(path, opt_common_values.dir) == 0)
		sandbox_read_folder_of(sandbox, path);
#ifdef CONFINE_REPORTS
	/* A sanitizer or valgrind reads symbols and writes its report there. */
	allow(sandbox, CONFINE_REPORTS, CONFINE_WRITE);
	allow(sandbox, "/tmp", CONFINE_WRITE);
	if (getenv("TMPDIR") != NULL)
		allow(sandbox, getenv("TMPDIR"), CONFINE_WRITE);
#endif
}

void
sandbox_drop(struct sandbox *sandbox)
{
	if (sandbox->confine.fd >= 0)
		close(sandbox->confine.fd);
	sandbox->confine.fd = -1;
}

void
sandbox_close(struct sandbox *sandbox, bool service)
{
	enum log_level level = service ? LOG_INFO : LOG_DEBUG;
	int abi = sandbox->confine.fd < 0 ? 0 : sandbox->confine.abi;

	if (sandbox->failed[0] == '\0' &&
	    confine_enforce(&sandbox->confine) != 0)
		fail(sandbox, "this process");
	if (sandbox->failed[0] != '\0')
		log_warn("sandbox: Landlock unavailable for %s: %s; file "
			 "access is not restricted",
		    sandbox->failed, strerror(sandbox->why));
	else if (abi == 0)
		log_write(level, "sandbox: this kernel has no Landlock; file "
				 "access is not restricted");
	else
		log_debug(
		    "sandbox: file access is restricted (Landlock ABI %d)",
		    abi);
	sandbox_drop(sandbox);
	if (confine_calls(sandbox->executes) != 0)
		log_write(level,
		    "sandbox: seccomp unavailable: %s; system calls are not "
		    "restricted",
		    strerror(errno));
}
