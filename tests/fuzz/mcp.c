/*
 * mcp - any bytes as a message of the Model Context Protocol: what is answered
 * is one line of strict JSON with the id that was sent, or nothing.  There is
 * no source, so that a call is answered with what is wrong with it.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/mcp/mcp.h"

#include <string.h>

#include "proto/json/json_find.h"
#include "tests/fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct source *
open_none(void *arg, struct err *err)
{
	(void)arg;
	err_set(err, "there is no source");
	return NULL;
}

static void
judge(struct text message, struct text line, enum mcp_code code)
{
	struct text id = json_find(json_find_root(message), "id");
	struct text root, result;

	MUST(line.bytes > 0 && line.at[line.bytes - 1] == '\n');
	MUST(memchr(line.at, '\n', line.bytes - 1) == NULL);
	root = json_find_root(line);
	MUST(root.bytes > 0);
	MUST(json_find_is(json_find(root, "jsonrpc"), "2.0"));
	if (code == MCP_OK)
		MUST(text_equal(json_find(root, "id"), id));
	MUST((code == MCP_OK) == (json_find(root, "error").bytes == 0));
	result = json_find(root, "result");
	MUST((code == MCP_OK) == (result.bytes > 0));
	MUST(json_find(result, "structuredContent").bytes <=
	     MCP_ANSWER_BYTES_MAX);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct source_options options;
	static struct buffer out;
	static const struct mcp_fields fields = { "2026-07-28", "tools/call",
		"phases" };
	const struct mcp_server server = {
		.options = &options, .open = open_none, .command = ""
	};
	struct text message = { (const char *)data, (uint32_t)size };

	/* These two are answered without a source, and ask the instance. */
	if (memmem(data, size, "status", 6) != NULL ||
	    memmem(data, size, "metrics", 7) != NULL)
		return 0;
	for (int i = 0; i < 2; i++) {
		enum mcp_code code;

		out.bytes = 0;
		code =
		    mcp_answer(&server, message, i == 0 ? NULL : &fields, &out);
		if (out.bytes > 0)
			judge(message, buffer_text(&out), code);
		else
			MUST(code == MCP_OK);
	}
	return 0;
}
