/*
 * load - read models from a file, or from all files of a directory.
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggregator/model/model.h"
#include "proto/base/memory.h"

#define ENDING ".conf"

struct text
model_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *file = slash ? slash + 1 : path;
	size_t bytes = strlen(file), ending = strlen(ENDING);

	if (file[0] == '.' || bytes <= ending ||
	    strcmp(file + bytes - ending, ENDING) != 0)
		return (struct text){ NULL, 0 };
	return (struct text){ file, (uint32_t)(bytes - ending) };
}

int
model_add_file(struct model_set *set, const char *path, struct err *err)
{
	struct text name = model_file_name(path);
	char *text;
	ssize_t bytes = -1;
	int fd, rc = -1;

	if (name.bytes == 0)
		return err_set(
		    err, "%s:1: a model file must be called NAME" ENDING, path);
	text = memory_alloc(MODEL_FILE_BYTES_MAX);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO */
	if (fd >= 0)
		bytes = read(fd, text, MODEL_FILE_BYTES_MAX);
	if (bytes < 0)
		err_set(err, "%s: %s", path, strerror(errno));
	else if (bytes == MODEL_FILE_BYTES_MAX)
		err_set(err, "%s:1: the file is longer than %d bytes", path,
		    MODEL_FILE_BYTES_MAX - 1);
	else
		rc = model_parse(set, path, name,
		    (struct text){ text, (uint32_t)bytes }, err);
	if (fd >= 0)
		close(fd);
	free(text);
	return rc;
}

static int
is_model(const struct dirent *entry)
{
	return model_file_name(entry->d_name).bytes > 0;
}

static int
add_file_of(
    struct model_set *set, const char *dir, const char *file, struct err *err)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", dir, file) >=
	    (int)sizeof(path))
		return err_set(err, "models: %s: the path is too long", dir);
	return model_add_file(set, path, err);
}

int
model_load(struct model_set *set, const char *dir, struct err *err)
{
	struct dirent **files;
	int count = scandir(dir, &files, is_model, alphasort);
	int i, rc = 0;

	model_set_clear(set);
	if (count < 0)
		return err_set(err, "models: %s: %s", dir, strerror(errno));
	for (i = 0; i < count; i++) {
		if (rc == 0)
			rc = add_file_of(set, dir, files[i]->d_name, err);
		free(files[i]);
	}
	free(files);
	if (rc != 0)
		model_set_clear(set);
	return rc;
}
