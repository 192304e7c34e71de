/*
 * config - any configuration is taken, or refused with file and reason; what is
 * taken are values of their options.
 * SPDX-License-Identifier: MIT
 */
#include "proto/config/config.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t spool_bytes, wait;
static struct opt_list list;
static const struct opt options[] = {
	{ "spool-bytes", 0, OPT_BYTES, .to = &spool_bytes, "BYTES", "bound" },
	{ "wait", 'w', OPT_COUNT, .to = &wait, "N", "wait" },
	{ "attr", 0, OPT_LIST, .to = &list, "KEY=VALUE", "list" },
	{ .name = NULL },
};

/* A file of the bytes that config_files_read lets through: without NUL. */
static void
add(struct config_files *files, const char *path, const uint8_t *data,
    size_t bytes)
{
	struct config_file *file = &files->at[files->count++];

	file->path = strdup(path);
	file->text = malloc(bytes + 1);
	if (file->path == NULL || file->text == NULL)
		abort();
	memcpy(file->text, data, bytes);
	file->text[bytes] = '\0';
}

static void
check_values(const struct config *config)
{
	struct err err;

	for (uint32_t i = 0; i < config->count; i++) {
		const struct config_value *value = &config->values[i];

		assert(value->line > 0 && value->file != NULL);
		for (uint32_t j = 0; j < value->count; j++)
			assert(
			    opt_check(value->opt, value->words[j], &err) == 0);
	}
}

/* \xff ends a file; what is behind it is one of conf.d. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct opt_table tables[] = { { options, NULL },
		{ NULL, NULL } };
	static const struct opt_program program = { .name = "poolscope-emit",
		.tables = tables };
	struct config config = { .count = 0 };
	struct err err = { 0 };

	if (size > 0 && memchr(data, '\0', size) != NULL)
		return 0;
	while (config.files.count < CONFIG_FILES_MAX) {
		const uint8_t *cut = size ? memchr(data, 0xff, size) : NULL;
		size_t bytes = cut ? (size_t)(cut - data) : size;

		add(&config.files,
		    config.files.count ? "conf.d/x.conf" : "main", data, bytes);
		if (cut == NULL)
			break;
		data += bytes + 1;
		size -= bytes + 1;
	}
	if (config_parse(&config, &program, true, &err) == 0)
		check_values(&config);
	else
		assert(strncmp(err.text, "main:", 5) == 0 ||
		       strncmp(err.text, "conf.d/x.conf:", 14) == 0);
	config_clear(&config);
	return 0;
}
