/*
 * poolscope-wire - prints frames of the wire protocol.  poolscope-wire(1).
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/config/opt_verb.h"
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
	    "text|json", 0 },
	{ .name = NULL },
};

enum { DECODE, VERBS };
static const char *const takes_decode[] = { "format", NULL };
static const struct opt_verb verbs[VERBS] = {
	[DECODE] = { "decode", NULL, "decode [FILE] [options]",
	    "print header and body of each frame in FILE or on standard input",
	    0, 1, takes_decode,
	    "poolscope wire decode frame.bin\npoolscope wire decode --format "
	    "json <frame.bin\n" },
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

static uint32_t
parse(
    struct values *values, int argc, char **argv, struct opt_operands *operands)
{
	const struct opt_table tables[] = { { options, values },
		{ opt_common, NULL }, { NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-wire",
		.synopsis = "decode [FILE] [options]",
		.summary = "print the frames in FILE or on standard input",
		.examples = "poolscope wire decode frame.bin\n"
			    "poolscope wire decode --format json <frame.bin\n",
		.tables = tables,
	};

	return opt_verb_parse(&program, verbs, VERBS, argc, argv, operands);
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
	path = words.count > 0 && strcmp(words.at[0], "-") != 0 ? words.at[0]
								: NULL;
	sandbox_begin(&sandbox);
	sandbox_read(&sandbox, path);
	sandbox_close(&sandbox, false);
	if (decode(&values, path, &err) == 0)
		return EXIT_SUCCESS;
	log_fail(&err);
	return EXIT_FAILURE;
}
