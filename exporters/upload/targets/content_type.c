/*
 * content_type - the media type of a file, by its name's extension.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/upload/targets/content_type.h"

#include <string.h>
#include <strings.h>

/* The types that this project's programs write, and related ones. */
static const struct {
	const char *suffix, *type;
} types[] = {
	{ "json", "application/json" },
	{ "jsonl", "application/x-ndjson" },
	{ "csv", "text/csv; charset=utf-8" },
	{ "dat", "text/plain; charset=utf-8" },
	{ "plot", "text/plain; charset=utf-8" },
	{ "txt", "text/plain; charset=utf-8" },
	{ "log", "text/plain; charset=utf-8" },
	{ "md", "text/markdown; charset=utf-8" },
	{ "html", "text/html; charset=utf-8" },
	{ "xml", "application/xml" },
	{ "png", "image/png" },
	{ "svg", "image/svg+xml" },
	{ "pdf", "application/pdf" },
	{ "gz", "application/gzip" },
	{ "zst", "application/zstd" },
	{ "zip", "application/zip" },
	{ "tar", "application/x-tar" },
};

const char *
content_type(const char *name)
{
	const char *slash = strrchr(name, '/');
	const char *dot = strrchr(slash != NULL ? slash : name, '.');

	for (size_t i = 0; dot != NULL && i < sizeof(types) / sizeof(*types);
	     i++)
		if (strcasecmp(dot + 1, types[i].suffix) == 0)
			return types[i].type;
	return "application/octet-stream";
}
