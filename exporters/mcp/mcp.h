/*
 * mcp - the questions as tools of the Model Context Protocol
 * (modelcontextprotocol.io), whatever carries its messages.
 *
 * A tool is a question (exporters/question); its name, what it takes and what
 * it gives come from there.  Tools read.  The answer to a call is JSON of at
 * most MCP_ANSWER_BYTES_MAX bytes, as the text of the result and as its
 * structured content; what a name of a node says is inside a string of it and
 * nowhere else.
 *
 * Revisions 2024-11-05 to 2025-11-25, which begin with "initialize", and
 * 2026-07-28, in which each request stands alone.  Nothing is kept from one
 * message to the next.  A batch is refused, as from 2025-06-18 on.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_MCP_MCP_H
#define EXPORTERS_MCP_MCP_H

#include <stdbool.h>
#include <stdio.h>

#include "exporters/question/question.h"
#include "proto/base/buffer.h"

enum { MCP_ANSWER_BYTES_MAX = 4096 };

struct mcp_server {
	const struct source_options *options;
	/* The source, opened when it is needed; NULL: `err` says why not. */
	struct source *(*open)(void *arg, struct err *err);
	void *arg;
	const char *partition; /* unless a call names another; NULL: none */
	const char *limit;     /* of source_limit; NULL: none */
	const char *command;   /* more options of the command; "" */
	struct question_kept *kept; /* NULL: nothing is kept */
};

/* Fields of HTTP that must say what the message says; NULL: not there. */
struct mcp_fields {
	const char *version, *method, *name;
};

enum mcp_code {
	MCP_OK,
	MCP_PARSE_ERROR = -32700,
	MCP_INVALID_REQUEST = -32600,
	MCP_METHOD_NOT_FOUND = -32601,
	MCP_INVALID_PARAMS = -32602,
	MCP_HEADER_MISMATCH = -32020,
	MCP_UNSUPPORTED_VERSION = -32022,
	MCP_REFUSED = -32000, /* by the server, whatever it says */
};

/* Answer a message: one line of JSON is appended, or nothing, if it wants no
 * answer.  `fields` may be NULL.  Returns the code of the error that was
 * answered. */
enum mcp_code mcp_answer(const struct mcp_server *server, struct text message,
    const struct mcp_fields *fields, struct buffer *to);
/* Does HTTP call it a bad request? */
bool mcp_is_bad_request(enum mcp_code code);
/* The same to a message that cannot be read: `sentence` says why. */
void mcp_refuse(enum mcp_code code, const char *sentence, struct buffer *to);

/* Append an option to a command line of a shell, whatever is in the word; NULL:
 * it is a flag. */
void mcp_put_option(struct buffer *command, const char *name, const char *word);

/* ---- within this folder ---- */

/* The argument that is what a command line has without an option. */
#define MCP_OPERAND "what"

/* The tools as JSON, between the brackets of an array. */
void mcp_tools_put(struct json *json, bool has_partition);
/* The option that the tool takes under this name, and what it is bound to;
 * NULL: none. */
const struct opt *mcp_tool_option(const struct question *question,
    struct question_values *values, const char *name, void **to);

/* Append the answer to a call; false: it is an error, which the answer says.
 * `arguments` is an object, or has 0 bytes. */
bool mcp_call(const struct mcp_server *server, const struct question *question,
    struct text arguments, struct buffer *to);

#endif
