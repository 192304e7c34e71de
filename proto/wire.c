/*
 * poolscope-wire - prints frames of the wire protocol.  poolscope-wire(1).
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/config/opt.h"
#include "proto/decode/decode.h"
#include "proto/os/log.h"
#include "proto/service/sandbox.h"

enum { FORMAT_TEXT, FORMAT_JSON };

struct values {
	int format;
};

static const struct opt options[] = {
	{ "format", 0, OPT_CHOICE, OPT_TO(struct values, format), "FORMAT",
	    "print text (default), or json: one object for each frame, on a "
	    "line",
	    "text|json" },
	{ .name = NULL },
};

static const struct opt_topic topics[] = {
	{ "decode", " [FILE]",
	    "print header and body of each frame in FILE or on standard input",
	    "format",
	    "poolscope wire decode frame.bin\npoolscope wire decode --format "
	    "json <frame.bin\n" },
	{ .word = NULL },
};

static int
decode(const struct values *values, const char *path, struct err *err)
{
	struct decode to = { .file = stdout,
		.as_json = values->format == FORMAT_JSON };
	FILE *input = path == NULL ? stdin : fopen(path, "re");
	int rc;

	if (input == NULL)
		return err_set(err, "%s: %s", path, strerror(errno));
	rc = decode_stream(
	    &to, input, path == NULL ? "standard input" : path, err);
	decode_clear(&to);
	if (path != NULL)
		fclose(input);
	if (fflush(stdout) != 0 || ferror(stdout))
		return err_set(err, "standard output cannot be written");
	return rc;
}

static void
parse(
    struct values *values, int argc, char **argv, struct opt_operands *operands)
{
	const struct opt_table tables[] = { { options, values },
		{ opt_common, NULL }, { NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-wire",
		.synopsis = "WHAT [options]",
		.summary = "print frames of the wire protocol; WHAT is one of",
		.examples = "poolscope wire decode frame.bin\n"
			    "poolscope wire decode --format json <frame.bin\n",
		.tables = tables,
		.topics = topics,
	};

	opt_parse(&program, argc, argv, operands);
}

int
main(int argc, char **argv)
{
	struct values values = { 0 };
	struct opt_operands words;
	struct sandbox sandbox;
	struct err err = { 0 };
	const char *path;

	parse(&values, argc, argv, &words);
	path = words.count > 1 && strcmp(words.at[1], "-") != 0 ? words.at[1]
								: NULL;
	sandbox_begin(&sandbox);
	sandbox_read(&sandbox, path);
	sandbox_close(&sandbox, false);
	if (decode(&values, path, &err) == 0)
		return EXIT_SUCCESS;
	log_fail(&err);
	return EXIT_FAILURE;
}
