/*
 * replay - runs a fuzz target over stored inputs: every file named, and every
 * file of every directory named, in the order of their names; and then over
 * others like them.
 *
 *     NAME [--runs N] [--seed N] [--from N] FILE...
 *
 * N runs of inputs made from those (mutate.h); with --runs 1 --from N the N-th
 * of a seed again.  The seed is printed, and taken from SEED, too.
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "tests/fuzz/main/mutate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct corpus corpus;

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

	corpus.inputs = reallocarray(
	    corpus.inputs, corpus.count + 1, sizeof(*corpus.inputs));
	if (corpus.inputs == NULL || !file || !data ||
	    fread(data, 1, bytes, file) != bytes) {
		fail(path);
		if (file)
			fclose(file);
		free(data);
		return -1;
	}
	fclose(file);
	LLVMFuzzerTestOneInput(data, bytes);
	corpus.inputs[corpus.count++] = (struct input){ data, bytes, 0 };
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

/* The number behind a word, which is taken from the list. */
static uint64_t
number(char **argv, const char *word, uint64_t otherwise)
{
	for (char **arg = argv + 1; *arg != NULL; arg++) {
		if (strcmp(*arg, word) != 0 || arg[1] == NULL)
			continue;
		otherwise = strtoull(arg[1], NULL, 0);
		do
			arg[0] = arg[2];
		while (*arg++ != NULL);
		break;
	}
	return otherwise;
}

int
main(int argc, char **argv)
{
	uint64_t runs = number(argv, "--runs", 0);
	const char *text = getenv("SEED");
	uint64_t seed = number(argv, "--seed",
	    text != NULL ? strtoull(text, NULL, 0) : (uint64_t)time(NULL));
	uint64_t from = number(argv, "--from", 0);
	const char *name = strrchr(argv[0], '/');
	int rc = 0;

	(void)argc;
	/* What LMDB clears is megabytes, of which it uses a few pages; what
	 * an import reads into, one that nobody clears. */
	mallopt(M_MMAP_THRESHOLD, (1 << 20) + (1 << 19));
	mallopt(M_TRIM_THRESHOLD, 16 << 20);
	for (char **arg = argv + 1; *arg != NULL; arg++)
		if (replay(*arg) != 0)
			rc = 1;
	printf("%zu inputs\n", corpus.count);
	if (corpus.count == 0) {
		fprintf(stderr, "replay: nothing to replay\n");
		return 1;
	}
	if (runs > 0)
		mutate_run(&corpus, name != NULL ? name + 1 : argv[0], seed,
		    from, runs);
	for (size_t i = 0; i < corpus.count; i++)
		free(corpus.inputs[i].at);
	free(corpus.inputs);
	return rc;
}
