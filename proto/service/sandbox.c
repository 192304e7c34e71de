/*
 * sandbox - a process keeps itself from all but what it needs.
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
#include "proto/os/log.h"

/* With errno. */
static void
fail(struct fence *fence, const char *path)
{
	if (fence->failed[0] != '\0')
		return;
	fence->why = errno;
	snprintf(fence->failed, sizeof(fence->failed), "%s", path);
}

static void
allow(struct fence *fence, const char *path, enum lockdown_use use)
{
	if (lockdown_allow(&fence->lockdown, path, use) != 0)
		fail(fence, path);
}

/* The folder that the name is in: "." when it says none. */
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
says_nothing(const char *path)
{
	return path == NULL || path[0] == '\0';
}

void
fence_read(struct fence *fence, const char *path)
{
	char at[PATH_MAX], above[PATH_MAX];

	if (says_nothing(path))
		return;
	snprintf(at, sizeof(at), "%s", path);
	while (access(at, F_OK) != 0) {
		folder_of(above, at);
		strcpy(at, above);
	}
	/* All there is would be no fence. */
	if (strcmp(at, "/") != 0)
		allow(fence, at, LOCKDOWN_READ);
}

void
fence_read_beside(struct fence *fence, const char *path)
{
	char at[PATH_MAX], real[PATH_MAX];

	if (says_nothing(path))
		return;
	folder_of(at, path);
	fence_read(fence, at);
	if (realpath(path, real) == NULL)
		return;
	folder_of(at, real);
	fence_read(fence, at);
}

void
fence_execute(struct fence *fence, const char *path)
{
	if (says_nothing(path))
		return;
	allow(fence, path, LOCKDOWN_EXECUTE);
	fence->executes = true;
}

void
fence_update(struct fence *fence, const char *path)
{
	if (!says_nothing(path))
		allow(fence, path, LOCKDOWN_UPDATE);
}

void
fence_write(struct fence *fence, const char *path)
{
	if (!says_nothing(path))
		allow(fence, path, LOCKDOWN_WRITE);
}

void
fence_write_beside(struct fence *fence, const char *path)
{
	char at[PATH_MAX];

	if (says_nothing(path))
		return;
	folder_of(at, path);
	allow(fence, at, LOCKDOWN_WRITE);
}

static bool
in_instance(
    char to[static INSTANCE_PATH_BYTES], const char *option, const char *name)
{
	struct err err;

	return option == NULL && instance_path(to, name, &err) == 0;
}

void
fence_write_or(struct fence *fence, const char *option, const char *name)
{
	char path[INSTANCE_PATH_BYTES];
	struct err err;

	if (in_instance(path, option, name))
		option = path;
	/* What cannot be made is said by whoever wants to use it. */
	if (!says_nothing(option))
		(void)instance_make_dir(option, &err);
	fence_write(fence, option);
}

void
fence_read_or(struct fence *fence, const char *option, const char *name)
{
	char path[INSTANCE_PATH_BYTES];

	fence_read_beside(
	    fence, in_instance(path, option, name) ? path : option);
}

void
fence_socket_or(struct fence *fence, const char *option, const char *name)
{
	char path[INSTANCE_PATH_BYTES], folder[PATH_MAX];
	struct err err;

	if (!in_instance(path, option, name)) {
		fence_write_beside(fence, option);
		return;
	}
	folder_of(folder, path);
	(void)instance_make_dir(folder, &err);
	fence_write_beside(fence, path);
}

void
fence_doors(
    struct fence *fence, const struct opt_list *endpoints, const char *name)
{
	for (uint32_t i = 0; i < endpoints->count; i++)
		fence_write_beside(fence, endpoint_path(endpoints->at[i]));
	if (endpoints->count == 0)
		fence_socket_or(fence, NULL, name);
}

void
fence_begin(struct fence *fence)
{
	char path[INSTANCE_PATH_BYTES];
	struct err err;

	*fence = (struct fence){ 0 };
	if (lockdown_begin(&fence->lockdown, LOCKDOWN_SERVICE) != 0 ||
	    lockdown_allow_system(&fence->lockdown) != 0)
		fail(fence, "the files of the system");
	fence_read(fence, "/proc");
	fence_read(fence, "/etc");
	fence_read_beside(fence, "/etc/resolv.conf");
	fence_update(fence, "/dev/null");
	if (instance_dir(path, &err) == 0)
		fence_read(fence, path);
	if (opt_common_values.config != NULL)
		fence_read_beside(fence, opt_common_values.config);
	else if (conf_default(path, opt_common_values.dir) == 0)
		fence_read_beside(fence, path);
#ifdef LOCKDOWN_REPORTS
	/* Where an instrument reads symbols, and writes what it found. */
	allow(fence, LOCKDOWN_REPORTS, LOCKDOWN_WRITE);
	allow(fence, "/tmp", LOCKDOWN_WRITE);
	if (getenv("TMPDIR") != NULL)
		allow(fence, getenv("TMPDIR"), LOCKDOWN_WRITE);
#endif
}

void
fence_drop(struct fence *fence)
{
	if (fence->lockdown.fd >= 0)
		close(fence->lockdown.fd);
	fence->lockdown.fd = -1;
}

void
fence_close(struct fence *fence, bool service)
{
	enum log_level level = service ? LOG_INFO : LOG_DEBUG;
	int abi = fence->lockdown.fd < 0 ? 0 : fence->lockdown.abi;

	if (fence->failed[0] == '\0' && lockdown_enforce(&fence->lockdown) != 0)
		fail(fence, "this process");
	if (fence->failed[0] != '\0')
		log_warn("files that we do not need are open to us: Landlock "
			 "and %s: %s",
		    fence->failed, strerror(fence->why));
	else if (abi == 0)
		log_write(level,
		    "files that we do not need are open to us: this "
		    "kernel has no Landlock");
	else
		log_debug(
		    "files that we do not need are closed, Landlock %d", abi);
	fence_drop(fence);
	if (lockdown_calls(fence->executes) != 0)
		log_write(level, "all system calls are open to us: seccomp: %s",
		    strerror(errno));
}
