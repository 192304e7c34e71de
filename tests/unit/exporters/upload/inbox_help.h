/*
 * inbox_help - two directories, and files in them, for tests.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_UNIT_EXPORTERS_UPLOAD_INBOX_HELP_H
#define TESTS_UNIT_EXPORTERS_UPLOAD_INBOX_HELP_H

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporters/upload/inbox.h"
#include "tests/unit/check.h"

struct here {
	char path[64], data[80], archive[80];
	struct inbox from, to;
};

static inline int
begin(void **state)
{
	static struct here here;
	struct err err;

	strcpy(here.path, "/tmp/folder.XXXXXX");
	assert_non_null(mkdtemp(here.path));
	snprintf(here.data, sizeof(here.data), "%s/data", here.path);
	snprintf(here.archive, sizeof(here.archive), "%s/archive", here.path);
	assert_int_equal(mkdir(here.data, 0700), 0);
	assert_int_equal(mkdir(here.archive, 0700), 0);
	assert_int_equal(inbox_open(&here.from, here.data, &err), 0);
	assert_int_equal(inbox_open(&here.to, here.archive, &err), 0);
	*state = &here;
	return 0;
}

static inline int
end(void **state)
{
	struct here *here = *state;
	char command[128];

	inbox_close(&here->from);
	inbox_close(&here->to);
	snprintf(command, sizeof(command), "rm -r %s", here->path);
	return system(command);
}

static inline void
write_file(
    const struct inbox *inbox, const char *name, const char *text, time_t mtime)
{
	const struct timespec times[2] = { { mtime, 0 }, { mtime, 0 } };
	int fd = openat(
	    inbox->fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

static inline void
assert_holds(const struct inbox *inbox, const char *name, const char *text)
{
	char got[64] = "";
	int fd = openat(inbox->fd, name, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(read(fd, got, sizeof(got) - 1), strlen(text));
	assert_string_equal(got, text);
	close(fd);
}

static inline void
assert_absent(const struct inbox *inbox, const char *name)
{
	assert_int_equal(faccessat(inbox->fd, name, F_OK, 0), -1);
}

static inline struct inbox_list
list(struct inbox *inbox, uint32_t count)
{
	struct inbox_list list = { .at = NULL };
	struct err err;

	assert_int_equal(inbox_list(inbox, NULL, &list, &err), 0);
	assert_int_equal(list.count, count);
	assert_false(list.more);
	return list;
}

#endif
