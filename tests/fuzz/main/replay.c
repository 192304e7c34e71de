/*
 * replay - runs a fuzz target over stored inputs: every file named, and every
 * file of every directory named, in the order of their names.
 *
 * What libFuzzer's driver does with files, for compilers that have none.
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long inputs;

static int
fail(const char *path)
{
	fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
	return -1;
}

/* The input lies in memory of exactly its size, so that a sanitizer sees one
 * byte too many. */
static int
replay_file(const char *path, size_t bytes)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = malloc(bytes > 0 ? bytes : 1);

	if (!file || !data || fread(data, 1, bytes, file) != bytes) {
		fail(path);
		if (file)
			fclose(file);
		free(data);
		return -1;
	}
	fclose(file);
	LLVMFuzzerTestOneInput(data, bytes);
	free(data);
	inputs++;
	return 0;
}

static int replay(const char *path);

static int
replay_directory(const char *path)
{
	struct dirent **entries;
	int count = scandir(path, &entries, NULL, alphasort);
	int rc = 0;

	if (count < 0)
		return fail(path);
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		char *child;

		if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
			if (asprintf(&child, "%s/%s", path, name) < 0)
				abort();
			if (replay(child) != 0)
				rc = -1;
			free(child);
		}
		free(entries[i]);
	}
	free(entries);
	return rc;
}

static int
replay(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return fail(path);
	if (S_ISDIR(st.st_mode))
		return replay_directory(path);
	return replay_file(path, (size_t)st.st_size);
}

int
main(int argc, char **argv)
{
	int rc = 0;

	for (int i = 1; i < argc; i++)
		if (replay(argv[i]) != 0)
			rc = 1;
	printf("%lu inputs\n", inputs);
	if (inputs == 0) {
		fprintf(stderr, "replay: nothing to replay\n");
		return 1;
	}
	return rc;
}
