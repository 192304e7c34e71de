/*
 * upload - shared by the parts of poolscope-upload.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/upload.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/os/clock.h"

/* All targets are opened before anything is sent. */
struct opened {
	const struct target_type *type;
	struct target *target;
};

static void
check(const struct upload_values *upload, const struct opt_operands *operands)
{
	upload_check_targets(upload, TARGET_FILES);
	if (strcmp(operands->at[0], "-") == 0 && upload->targets.count > 1)
		opt_usage("standard input can be uploaded to one target only");
}

/* The writer of the pipe closed it before it wrote: it has failed, and no
 * upload is better than an empty file. */
static bool
is_empty_pipe(int fd, const struct stat *st)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	int bytes = 0;

	if (!S_ISFIFO(st->st_mode))
		return false;
	return poll(&wait, 1, -1) > 0 && ioctl(fd, FIONREAD, &bytes) == 0 &&
	       bytes == 0;
}

static int
open_file(const char *path, int64_t *bytes, struct err *err)
{
	bool is_input = strcmp(path, "-") == 0;
	int fd = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	off_t at;

	if (fd < 0 || fstat(fd, &st) != 0)
		return err_set(err, "%.300s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode)) {
		if (!is_input)
			close(fd);
		return err_set(err, "%.300s: %s", path, strerror(EISDIR));
	}
	if (is_input && is_empty_pipe(fd, &st))
		return err_set(
		    err, "standard input is empty; nothing is uploaded");
	at = S_ISREG(st.st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
	*bytes = at >= 0 && at <= st.st_size ? st.st_size - at : -1;
	return fd;
}

static int
open_all(
    const struct upload_values *upload, struct opened *targets, struct err *err)
{
	for (uint32_t i = 0; i < upload->targets.count; i++) {
		const char *name = upload->targets.at[i], *rest;

		targets[i].type = target_find(name, TARGET_FILES, &rest, err);
		if (targets[i].type == NULL ||
		    targets[i].type->open(
			&targets[i].target, rest, &upload->http, err) != 0)
			return -1;
	}
	return 0;
}

/* Reads the file once per target; a failure does not affect the other
 * targets. */
static int
put_all(const struct upload_values *upload, const struct opened *targets,
    const char *path, int fd, int64_t bytes, struct err *err)
{
	int status = EXIT_SUCCESS;

	for (uint32_t i = 0; i < upload->targets.count; i++) {
		struct err why = { 0 };

		if (i > 0 && lseek(fd, 0, SEEK_SET) < 0)
			err_set(&why, "%s", strerror(errno));
		else if (targets[i].type->put_file(
			     targets[i].target, fd, bytes, &why) == 0)
			continue;
		if (status == EXIT_SUCCESS)
			err_set(err, "%.200s to %.200s: %s", path,
			    upload->targets.at[i], why.text);
		status = EXIT_FAILURE;
	}
	return status;
}

static void
allow_files(const struct upload_values *upload, struct sandbox *sandbox,
    const struct opt_operands *operands)
{
	(void)upload;
	if (strcmp(operands->at[0], "-") != 0)
		sandbox_read(sandbox, operands->at[0]);
}

static int
run(struct upload_values *upload, const struct opt_operands *operands,
    struct err *err)
{
	struct opened targets[OPT_LIST_MAX] = { { NULL, NULL } };
	const char *path = operands->at[0];
	int status = EXIT_FAILURE, fd;
	int64_t bytes = -1;

	fd = open_file(path, &bytes, err);
	if (fd < 0)
		return EXIT_FAILURE;
	if (open_all(upload, targets, err) == 0)
		status = put_all(upload, targets, path, fd, bytes, err);
	for (uint32_t i = 0; i < upload->targets.count; i++)
		if (targets[i].target != NULL)
			targets[i].type->close(&targets[i].target);
	if (fd != STDIN_FILENO)
		close(fd);
	return status;
}

const struct upload_command upload_file = {
	.word = "file",
	.allow_files = allow_files,
	.check = check,
	.run = run,
};

const struct upload_values upload_default = {
	.http = HTTP_DEFAULT,
	.from = "",
	.to = "",
	.from_ns = TIME_MIN_NS,
	.to_ns = TIME_MAX_NS,
	.records = { .name = "" },
	.results = { .timeout_ns = 60 * NS_PER_SECOND },
	.metrics = { .prefix = "", .step_ns = 10 * NS_PER_SECOND },
};

void
upload_check_targets(const struct upload_values *upload, enum target_use use)
{
	struct err err;
	const char *rest;

	for (uint32_t i = 0; i < upload->targets.count; i++)
		if (target_find(upload->targets.at[i], use, &rest, &err) ==
		    NULL)
			opt_usage("%s", err.text);
}
