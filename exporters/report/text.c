/*
 * report_text - the findings of a report, for a ticket or a mail.
 *
 * The tables are those of the commands.  In Markdown they are indented by four
 * blanks, which leaves no text in them a meaning.
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include "exporters/report/report.h"
#include "proto/base/memory.h"

static const struct {
	const char *title, *route;
} parts[] = {
	{ "Phases", "phases" },
	{ "The longest phases by node", "phases?by=node&sort=max&top=5" },
	{ "Nodes that need attention", "nodes?top=10" },
	{ "Groups of runs", "groups" },
	{ "Newest runs", "runs?newest=20" },
	{ "Usage", "usage?top=10" },
	{ "Samples", "samples" },
	{ "Results of benchmarks", "results" },
};

static void
put_lines(FILE *file, const char *text, const char *before)
{
	while (*text != '\0') {
		size_t bytes = strcspn(text, "\n");

		if (bytes > 0)
			fprintf(file, "%s%.*s", before, (int)bytes, text);
		fputc('\n', file);
		text += bytes + (text[bytes] == '\n');
	}
}

static void
put_title(FILE *file, const char *title, bool markdown)
{
	if (markdown) {
		fprintf(file, "\n## %s\n\n", title);
		return;
	}
	fprintf(file, "\n%s\n", title);
	for (size_t i = 0; i < strlen(title); i++)
		fputc('-', file);
	fputs("\n", file);
}

static int
put_part(FILE *file, const struct report_request *request, const char *title,
    const char *url, bool markdown, struct err *err)
{
	char *text;
	size_t bytes;
	FILE *to = memory_stream(&text, &bytes);
	struct err none = { 0 };
	int rc = report_ask(request, url, ANSWER_FORMAT_TABLE, to, &none);

	memory_stream_end(&to);
	if (rc == 0 && bytes > 0) {
		put_title(file, title, markdown);
		put_lines(file, text, markdown ? "    " : "");
	}
	free(text);
	if (rc < 0)
		*err = none;
	return rc < 0 ? -1 : 0;
}

int
report_text_write(FILE *file, const struct report_request *request,
    bool markdown, struct err *err)
{
	char *name = report_url(request, "%s", "");
	char *url;
	int rc;

	/* The name as it is in the path, without "/v1/pools/" and "/". */
	name[strlen(name) - 1] = '\0';
	url = memory_format("/v1/pools?name=%s", name + strlen("/v1/pools/"));
	fputs(markdown ? "# Report of a pool\n" : "Report of a pool\n", file);
	rc = put_part(file, request, "Pool", url, markdown, err);
	for (size_t i = 0; rc == 0 && i < sizeof(parts) / sizeof(*parts); i++) {
		char *of_pool = report_url(request, "%s", parts[i].route);

		rc = put_part(
		    file, request, parts[i].title, of_pool, markdown, err);
		free(of_pool);
	}
	free(name);
	free(url);
	return rc;
}
