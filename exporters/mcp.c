/*
 * poolscope-mcp - answer questions of programs that speak the Model Context
 * Protocol, on standard input and output.  poolscope-mcp(1).
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exporters/mcp/mcp.h"
#include "exporters/source/pool.h"
#include "proto/base/memory.h"
#include "proto/config/opt.h"
#include "proto/os/log.h"

enum { LINE_BYTES_MAX = 1 << 20, PIECE_BYTES = 64 << 10 };

struct values {
	struct pool_options pool;
	struct source_options source;
};

/* Standard input, a line at a time. */
struct input {
	struct buffer line; /* and what was read behind it */
	size_t taken;       /* of `line`, by the caller */
	bool is_skipping;   /* the rest of a line that is too long */
	bool has_ended;
};

struct program {
	struct values values;
	struct source *source; /* NULL: not open */
	bool is_store;
	struct input input;
	struct buffer out;
};

/* ---- the options ---- */

static void
parse(struct values *values, int argc, char **argv)
{
	const struct opt_table tables[] = { { pool_options, &values->pool },
		{ source_options, &values->source }, { opt_common, NULL },
		{ NULL, NULL } };
	const struct opt_program program = {
		.name = "poolscope-mcp",
		.synopsis = "[options]",
		.summary = "answer questions by the Model Context Protocol",
		.examples = "poolscope mcp\n"
			    "poolscope mcp -p 'acct$pool'\n",
		.tables = tables,
	};
	struct opt_operands operands;

	opt_parse(&program, argc, argv, &operands);
}

/* Sets it to "" if none is named: a call must name it then.  That of a job on
 * this node would be no help to who asks about pools. */
static void
choose_partition(
    char to[static INSTANCE_PATH_BYTES], const struct pool_options *options)
{
	bool is_named =
	    options->partition != NULL || options->configdir != NULL;
	struct err err;

	for (int i = 0; i < POOL_FILES; i++)
		is_named = is_named || options->files[i] != NULL;
	to[0] = '\0';
	if (is_named && pool_partition(to, options, &err) != 0)
		opt_usage("%s", err.text);
}

/* The word that the value was given as. */
static const char *
word_of(const struct opt *opt, const void *value, char room[static 16])
{
	const char *word = opt->choices;
	size_t bytes;

	switch (opt->type) {
	case OPT_TEXT:
	case OPT_ZONE: return *(const char *const *)value;
	case OPT_CHOICE:
		for (int i = *(const int *)value; i > 0; i--)
			word = strchr(word, '|') + 1;
		bytes = strcspn(word, "|");
		snprintf(room, 16, "%.*s", (int)bytes, word);
		return room;
	default: return NULL;
	}
}

/* Those that say where the answers come from: a command needs them, too. */
static void
put_source(struct buffer *command, const struct source_options *source)
{
	char room[16];

	if (opt_common_values.dir != NULL &&
	    opt_origin_of(&opt_common_values.dir) == OPT_COMMAND_LINE)
		mcp_put_option(command, "dir", opt_common_values.dir);
	for (const struct opt *opt = source_options; opt->name != NULL; opt++) {
		const void *value = (const char *)source + (size_t)opt->to;
		const struct opt_list *list = value;

		if (opt_origin_of(value) != OPT_COMMAND_LINE)
			continue;
		if (opt->type != OPT_LIST)
			mcp_put_option(
			    command, opt->name, word_of(opt, value, room));
		for (uint32_t i = 0; opt->type == OPT_LIST && i < list->count;
		     i++)
			mcp_put_option(command, opt->name, list->at[i]);
	}
	buffer_put(command, "", 1);
}

/* ---- the source ---- */

/* An aggregator that was started has the store now; without it, the store can
 * be read. */
static struct source *
open_source(void *arg, struct err *err)
{
	struct program *program = arg;
	const struct source_options *options = &program->values.source;
	bool is_store = source_reads_store(options);

	if (program->source != NULL && program->is_store != is_store)
		source_close(&program->source);
	program->is_store = is_store;
	if (program->source != NULL)
		source_renew(program->source);
	else if (source_open(&program->source, options, err) != 0)
		source_close(&program->source);
	return program->source;
}

/* A store may be replaced, as by restore, before the next question comes. */
static void
leave_source(struct program *program)
{
	if (program->source != NULL &&
	    (program->is_store || source_has_failed(program->source)))
		source_close(&program->source);
}

/* ---- lines ---- */

/* Read some more; false: there is no more. */
static bool
read_piece(struct input *input)
{
	ssize_t got;

	buffer_need(&input->line, PIECE_BYTES);
	do
		got = read(STDIN_FILENO, input->line.at + input->line.bytes,
		    PIECE_BYTES);
	while (got < 0 && errno == EINTR);
	if (got > 0)
		input->line.bytes += (size_t)got;
	input->has_ended = got <= 0;
	return got > 0;
}

enum got { GOT_LINE, GOT_TOO_LONG, GOT_END };

/* A view, valid until the next call. */
static enum got
next_line(struct input *input, struct text *line)
{
	struct buffer *have = &input->line;
	size_t looked = 0;
	unsigned char *end;

	memmove(have->at, have->at + input->taken, have->bytes - input->taken);
	have->bytes -= input->taken;
	input->taken = 0;
	for (;;) {
		end = memchr(have->at + looked, '\n', have->bytes - looked);
		looked = have->bytes;
		if (end == NULL && have->bytes > LINE_BYTES_MAX) {
			input->is_skipping = true;
			have->bytes = looked = 0;
		}
		if (end != NULL || !read_piece(input))
			break;
	}
	if (end == NULL && have->bytes == 0 && !input->is_skipping)
		return GOT_END;
	line->at = (const char *)have->at;
	line->bytes =
	    (uint32_t)(end != NULL ? (size_t)(end - have->at) : have->bytes);
	input->taken = line->bytes + (end != NULL);
	if (!input->is_skipping && line->bytes <= LINE_BYTES_MAX)
		return GOT_LINE;
	input->is_skipping = false;
	return GOT_TOO_LONG;
}

static int
serve(struct program *program, const struct mcp_server *server, struct err *err)
{
	struct buffer *out = &program->out;
	struct text line;
	enum got got;

	buffer_need(&program->input.line, PIECE_BYTES);
	while ((got = next_line(&program->input, &line)) != GOT_END) {
		out->bytes = 0;
		if (got == GOT_TOO_LONG)
			mcp_refuse(MCP_INVALID_REQUEST,
			    "the message has more than 1 MiB", out);
		else if (text_trim(line).bytes > 0)
			(void)mcp_answer(server, line, NULL, out);
		leave_source(program);
		/* A notification has no answer. */
		if (out->bytes == 0)
			continue;
		if (fwrite(out->at, 1, out->bytes, stdout) != out->bytes ||
		    fflush(stdout) != 0)
			return err_set(err, "cannot write the answer: %s",
			    strerror(errno));
	}
	return 0;
}

int
main(int argc, char **argv)
{
	struct program program = { .values.source.stays = true };
	struct mcp_server server = { .options = &program.values.source,
		.open = open_source,
		.arg = &program };
	char partition[INSTANCE_PATH_BYTES];
	struct buffer command = { .at = NULL };
	struct err err = { .text = "" };
	struct sandbox sandbox;
	int rc;

	parse(&program.values, argc, argv);
	choose_partition(partition, &program.values.pool);
	if (partition[0] != '\0')
		server.partition = partition;
	put_source(&command, &program.values.source);
	server.command = (const char *)command.at;
	sandbox_begin(&sandbox);
	source_sandbox(&sandbox, &program.values.source);
	sandbox_close(&sandbox, false);
	rc = serve(&program, &server, &err);
	source_close(&program.source);
	buffer_clear(&program.input.line);
	buffer_clear(&program.out);
	buffer_clear(&command);
	if (rc != 0)
		log_fail(&err);
	return rc == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
