/*
 * model - what kinds of pools do, from a directory of files.
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggregator/model.h"

static int
load_file(
    struct model_set *set, const char *dir, const char *file, struct err *err)
{
	char path[4096];
	char *text = malloc(MODEL_FILE_BYTES_MAX);
	ssize_t bytes = -1;
	int fd, rc = -1;

	if (text == NULL)
		abort();
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO */
	if (fd >= 0)
		bytes = read(fd, text, MODEL_FILE_BYTES_MAX);
	if (bytes < 0)
		err_set(err, "%s: %s", path, strerror(errno));
	else if (bytes == MODEL_FILE_BYTES_MAX)
		err_set(err, "%s:1: is longer than %d bytes", path,
		    MODEL_FILE_BYTES_MAX - 1);
	else
		rc = model_parse(set, path,
		    (struct text){
			file, (uint32_t)(strlen(file) - strlen(".conf")) },
		    (struct text){ text, (uint32_t)bytes }, err);
	if (fd >= 0)
		close(fd);
	free(text);
	return rc;
}

static int
is_model(const struct dirent *entry)
{
	size_t bytes = strlen(entry->d_name);

	return entry->d_name[0] != '.' && bytes > strlen(".conf") &&
	       strcmp(entry->d_name + bytes - strlen(".conf"), ".conf") == 0;
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
			rc = load_file(set, dir, files[i]->d_name, err);
		free(files[i]);
	}
	free(files);
	if (rc != 0)
		model_set_clear(set);
	return rc;
}
