/*
 * conf - any configuration file is taken or refused with file and reason.
 * SPDX-License-Identifier: MIT
 */
#include "proto/conf.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[32], drops[48], drop[64], file[48];
static uint64_t spool_bytes, wait;
static struct opt_list list;
static const struct opt options[] = {
	{ "spool-bytes", 0, OPT_BYTES, &spool_bytes, "BYTES", "bound", NULL,
	    false },
	{ "wait", 'w', OPT_COUNT, &wait, "N", "wait", NULL, false },
	{ "attr", 0, OPT_LIST, &list, "KEY=VALUE", "list", NULL, false },
	{ .name = NULL },
};

static void
clean_up(void)
{
	remove(drop);
	remove(drops);
	remove(file);
	remove(directory);
}

static void
make_dirs(void)
{
	if (directory[0] != '\0')
		return;
	strcpy(directory, "/tmp/fuzz-conf.XXXXXX");
	if (mkdtemp(directory) == NULL)
		abort();
	snprintf(drops, sizeof(drops), "%s/conf.d", directory);
	snprintf(drop, sizeof(drop), "%s/1.conf", drops);
	snprintf(file, sizeof(file), "%s/main.conf", directory);
	if (mkdir(drops, 0700) != 0)
		abort();
	atexit(clean_up);
}

static void
write_file(const char *path, const void *bytes, size_t count)
{
	FILE *to = fopen(path, "w");

	if (to == NULL || fwrite(bytes, 1, count, to) != count ||
	    fchmod(fileno(to), 0600) != 0 || fclose(to) != 0)
		abort();
}

/* The bytes before the first \xff are the file, those behind it conf.d's. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct opt *const tables[] = { options, NULL };
	static const struct opt_program program = { .name = "poolscope-emit",
		.tables = tables };
	const uint8_t *cut = size ? memchr(data, 0xff, size) : NULL;
	size_t bytes = cut ? (size_t)(cut - data) : size;
	struct err err = { "" };
	struct conf conf;

	make_dirs();
	write_file(file, data, bytes);
	if (cut != NULL)
		write_file(drop, cut + 1, size - bytes - 1);
	else
		remove(drop);
	if (conf_read(&conf, &program, file, &err) != 0)
		assert(strncmp(err.text, file, strlen(file)) == 0 ||
		       strncmp(err.text, drop, strlen(drop)) == 0);
	for (uint32_t i = 0; i < conf.count; i++)
		for (uint32_t j = 0; j < conf.values[i].count; j++)
			assert(opt_check(conf.values[i].opt,
				   conf.values[i].words[j], &err) == 0);
	conf_clear(&conf);
	return 0;
}
