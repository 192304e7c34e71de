/*
 * confine - gives up rights of the process: files and system calls.
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

void
confine_memory(void)
{
	static const struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
}

/* Newer than the headers of Debian 12; each ABI adds one. */
struct ruleset {
	__u64 fs, net, scoped;
};
enum { NET_BIND_AND_CONNECT_TCP = 3, SCOPE_SOCKETS = 1, SCOPE_SIGNALS = 2 };
#define FS_TRUNCATE (1ULL << 14)

#define READ_FILES (LANDLOCK_ACCESS_FS_READ_FILE)
#define READ_DIRS  (READ_FILES | LANDLOCK_ACCESS_FS_READ_DIR)
/* All of ABI 1, including devices. */
#define EVERYTHING ((1ULL << 13) - 1)

/* Library folders of all kinds of systems, and the files that libc opens by
 * itself. */
static const char *const system_files[] = { "/usr", "/lib", "/lib32", "/lib64",
	"/opt", "/nix/store", "/gnu/store", "/etc/ld.so.cache",
	"/etc/ld.so.preload", "/etc/alternatives", "/dev/null", "/dev/urandom",
	"/sys/devices/system", NULL };

int
confine_begin(struct confine *confine, enum confine_kind kind)
{
	struct ruleset rules = { .fs = EVERYTHING };
	size_t bytes = sizeof(rules.fs);
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
	    LANDLOCK_CREATE_RULESET_VERSION);

	*confine = (struct confine){ .fd = -1 };
	/* ABI 1 forbids renaming between folders. */
	if (abi < 1 || (abi < 2 && kind == CONFINE_SERVICE))
		return 0;
	if (abi >= 2)
		rules.fs |= LANDLOCK_ACCESS_FS_REFER;
	if (abi >= 3)
		rules.fs |= FS_TRUNCATE;
	if (abi >= 4) {
		rules.net =
		    kind == CONFINE_ALONE ? NET_BIND_AND_CONNECT_TCP : 0;
		bytes += sizeof(rules.net);
	}
	if (abi >= 6) {
		rules.scoped =
		    SCOPE_SIGNALS | (kind == CONFINE_ALONE ? SCOPE_SOCKETS : 0);
		bytes += sizeof(rules.scoped);
	}
	confine->abi = (int)abi;
	confine->handled = rules.fs;
	confine->fd =
	    (int)syscall(SYS_landlock_create_ruleset, &rules, bytes, 0);
	return confine->fd < 0 ? -1 : 0;
}

static __u64
access_of(enum confine_use use)
{
	switch (use) {
	case CONFINE_READ: return READ_DIRS;
	case CONFINE_EXECUTE: return READ_DIRS | LANDLOCK_ACCESS_FS_EXECUTE;
	/* Moving a file that another user left needs the right to create its
	 * type, even a device; confine_calls forbids creating devices. */
	case CONFINE_WRITE:
		return (EVERYTHING & ~LANDLOCK_ACCESS_FS_EXECUTE) |
		       LANDLOCK_ACCESS_FS_REFER | FS_TRUNCATE;
	case CONFINE_UPDATE:
		return READ_DIRS | LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE;
	}
	return 0;
}

int
confine_allow(
    const struct confine *confine, const char *path, enum confine_use use)
{
	struct landlock_path_beneath_attr rule = {
		.allowed_access = access_of(use) & confine->handled,
	};
	struct stat st;
	bool done = false;

	if (confine->fd < 0)
		return 0;
	rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (rule.parent_fd < 0)
		return 0;
	if (fstat(rule.parent_fd, &st) == 0) {
		/* Landlock refuses rights of folders for a file. */
		if (!S_ISDIR(st.st_mode))
			rule.allowed_access &=
			    READ_FILES | LANDLOCK_ACCESS_FS_EXECUTE |
			    LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE;
		/* Landlock does not cover files without a folder, such as a
		 * pipe named /dev/fd/N: they stay open. */
		done = syscall(SYS_landlock_add_rule, confine->fd,
			   LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0 ||
		       errno == EBADFD;
	}
	close(rule.parent_fd);
	return done ? 0 : -1;
}

/* Library folders named by the environment. */
static int
allow_libraries(const struct confine *confine)
{
	const char *at = getenv("LD_LIBRARY_PATH");
	char path[PATH_MAX];

	while (at != NULL && *at != '\0') {
		int n = (int)strcspn(at, ":;");

		snprintf(path, sizeof(path), "%.*s", n, at);
		if (n > 0 && confine_allow(confine, path, CONFINE_READ) != 0)
			return -1;
		at += n + (at[n] != '\0');
	}
	return 0;
}

int
confine_allow_system(const struct confine *confine)
{
	for (int i = 0; system_files[i] != NULL; i++)
		if (confine_allow(confine, system_files[i], CONFINE_READ) != 0)
			return -1;
	return allow_libraries(confine);
}

int
confine_enforce(struct confine *confine)
{
	int rc = 0;

	if (confine->fd < 0)
		return 0;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    syscall(SYS_landlock_restrict_self, confine->fd, 0) != 0)
		rc = -1;
	close(confine->fd);
	confine->fd = -1;
	return rc;
}
