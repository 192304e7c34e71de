/*
 * report_page - the page as one file, with its answers and a trace inside.
 *
 * The modules of exporters/web/page become one script: each is a function that
 * returns what it exports, those that it imports come before it.  This needs
 * of them what they keep to: an import or an export begins a line, an import
 * is one line, no text spans lines, and no module imports one that imports it.
 *
 * The file needs no server and no network, and its policy allows nothing but
 * this script and this style, by their hashes.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/report/report.h"
#include "exporters/report/squeeze.h"
#include "exporters/samples/time_window.h"
#include "exporters/trace/timeline.h"
#include "exporters/web/assets.h"
#include "proto/base/buffer.h"
#include "proto/base/memory.h"
#include "proto/config/opt.h"
#include "proto/json/json.h"
#include "proto/os/clock.h"
#include "proto/os/log.h"
#include "proto/stream/compress_block.h"

/* The trace of the worst nodes, to be saved from a report. */

enum { TRACE_BYTES_MAX = 32 << 20 };

/* What is not in the trace. */
static void
say_shown(const struct timeline_shown *shown)
{
	char text[CLOCK_TEXT_BYTES];

	if (shown->nodes < shown->of && !opt_common_values.quiet)
		log_info("the trace has the %" PRIu32 " worst of %" PRIu32
			 " nodes",
		    shown->nodes, shown->of);
	if (shown->until_ns != TIME_MAX_NS)
		log_warn("the trace ends at %s, with 32 MiB",
		    clock_text(text, shown->until_ns, 9));
	if (shown->left_out > 0)
		log_warn("the trace lacks %" PRIu64
			 " records, for which there was no track",
		    shown->left_out);
}

int
report_trace_read(struct report_trace *trace,
    const struct report_request *request, const char *nodes, struct err *err)
{
	struct time_window_options window = TIME_WINDOW_ALL;
	struct timeline_options timeline = { .nodes = nodes,
		.max_bytes = TRACE_BYTES_MAX };
	const struct trace_request asked = { .source = request->source,
		.window = &window,
		.gap_ns = request->starts.gap_ns,
		.timeline = &timeline,
		.partition = request->partition,
		.format = TRACE_PROTO };
	struct timeline_shown shown;
	char *bytes = NULL;
	size_t count;
	FILE *memory = memory_stream(&bytes, &count);
	int rc;

	window.from_ns = request->from_ns;
	window.to_ns = request->to_ns;
	timeline_check(&asked);
	source_renew(request->source);
	rc = timeline_write_to(&asked, memory, &shown, err);
	memory_stream_end(&memory);
	if (rc == 0) {
		trace->at =
		    compress_gzip(bytes, count, COMPRESS_FAST, &trace->bytes);
		say_shown(&shown);
	}
	free(bytes);
	return rc;
}

void
report_trace_clear(struct report_trace *trace)
{
	free(trace->at);
	*trace = (struct report_trace){ NULL, 0 };
}

enum { MODULES_MAX = 64, HASH_CHARACTERS = 45, WORDS_MAX = 64 };

static void
put(struct buffer *to, const char *text)
{
	buffer_put(to, text, strlen(text));
}

static struct text
file_named(struct text name)
{
	for (const struct web_page_file *file = web_page_files;
	     file->name != NULL; file++)
		if (text_equal(text_of(file->name), name))
			return (struct text){ (const char *)file->at,
				(uint32_t)(file->end - file->at) };
	return (struct text){ NULL, 0 };
}

/* Cut the first line, without its end. */
static struct text
next_line(struct text *rest)
{
	const char *end = memchr(rest->at, '\n', rest->bytes);
	struct text line = *rest;

	if (end != NULL)
		line.bytes = (uint32_t)(end - rest->at);
	rest->at += line.bytes + (end != NULL);
	rest->bytes -= line.bytes + (end != NULL);
	return line;
}

static bool
begins(struct text line, const char *with)
{
	size_t bytes = strlen(with);

	return line.bytes >= bytes && memcmp(line.at, with, bytes) == 0;
}

static void
drop(struct text *line, size_t bytes)
{
	line->at += bytes;
	line->bytes -= (uint32_t)bytes;
}

/* An empty line, or one of a comment; `*inside` one that has begun. */
static bool
is_comment(struct text line, bool *inside)
{
	if (begins(line, "/*"))
		*inside = true;
	if (!*inside)
		return line.bytes == 0;
	if (memmem(line.at, line.bytes, "*/", 2) != NULL)
		*inside = false;
	return true;
}

/* ---- modules ---- */

struct bundle {
	struct buffer *to;
	struct text done[MODULES_MAX];
	uint32_t done_count;
	struct err *err;
};

/* "./api.js" of an import: its name is "api". */
static bool
imported(struct text line, struct text *what, struct text *module)
{
	static const char from[] = " from \"./";
	const char *at = memmem(line.at, line.bytes, from, sizeof(from) - 1);
	const char *end =
	    at == NULL ? NULL
		       : memmem(at, line.bytes - (at - line.at), ".js\";", 5);

	if (end == NULL)
		return false;
	*what = (struct text){ line.at, (uint32_t)(at - line.at) };
	at += sizeof(from) - 1;
	*module = (struct text){ at, (uint32_t)(end - at) };
	return true;
}

/* import { a, b as c } from "./m.js";	const { a, b: c } = m_m;
 * import * as m from "./m.js";		const m = m_m; */
static int
put_import(struct bundle *bundle, struct text line)
{
	static const char all[] = "import * as ";
	struct text what, module;
	const char *as;

	if (!imported(line, &what, &module))
		return err_set(bundle->err,
		    "a module of the page has an import that is not of one "
		    "line: %.*s",
		    (int)line.bytes, line.at);
	put(bundle->to, "const ");
	if (begins(what, all)) {
		drop(&what, sizeof(all) - 1);
	} else {
		drop(&what, strlen("import "));
		while ((as = memmem(what.at, what.bytes, " as ", 4)) != NULL) {
			buffer_put(bundle->to, what.at, (size_t)(as - what.at));
			put(bundle->to, ": ");
			drop(&what, (size_t)(as - what.at) + 4);
		}
	}
	buffer_put_text(bundle->to, what);
	put(bundle->to, " = m_");
	buffer_put_text(bundle->to, module);
	put(bundle->to, ";\n");
	return 0;
}

/* The name that `export function name(` and the like define. */
static struct text
exported(struct text line)
{
	static const char *const words[] = { "async ", "function ", "const ",
		"let ", "class " };
	uint32_t bytes = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (begins(line, words[i]))
			drop(&line, strlen(words[i]));
	while (bytes < line.bytes && strchr(" (={;", line.at[bytes]) == NULL)
		bytes++;
	return (struct text){ line.at, bytes };
}

static int
put_line(struct bundle *bundle, struct text line, struct text *names,
    uint32_t *count, bool *comment)
{
	while (line.bytes > 0 && (*line.at == '\t' || *line.at == ' '))
		drop(&line, 1);
	if (is_comment(line, comment) || begins(line, "//"))
		return 0;
	if (begins(line, "import "))
		return put_import(bundle, line);
	if (begins(line, "await import("))
		return 0;
	if (begins(line, "export ")) {
		drop(&line, strlen("export "));
		if (*count == WORDS_MAX)
			return err_set(bundle->err,
			    "a module of the page exports more than %d names",
			    WORDS_MAX);
		names[(*count)++] = exported(line);
	}
	squeeze_line(bundle->to, SQUEEZE_SCRIPT, line);
	return 0;
}

/* `main`: it exports nothing, and may await. */
static int
put_module(
    struct bundle *bundle, struct text module, struct text file, bool is_main)
{
	struct text names[WORDS_MAX];
	bool comment = false;
	uint32_t count = 0;

	if (!is_main) {
		put(bundle->to, "const m_");
		buffer_put_text(bundle->to, module);
		put(bundle->to, " = (() => ");
	}
	put(bundle->to, "{\n");
	while (file.bytes > 0)
		if (put_line(
			bundle, next_line(&file), names, &count, &comment) != 0)
			return -1;
	if (is_main) {
		put(bundle->to, "}\n");
		return 0;
	}
	put(bundle->to, "return {");
	for (uint32_t i = 0; i < count; i++) {
		put(bundle->to, i > 0 ? ", " : " ");
		buffer_put_text(bundle->to, names[i]);
	}
	put(bundle->to, " };\n})();\n");
	return 0;
}

/* A module after those that it imports. */
static int
add_module(struct bundle *bundle, struct text module, bool is_main)
{
	char name[80];
	struct text file, rest, what, other;

	for (uint32_t i = 0; i < bundle->done_count; i++)
		if (text_equal(bundle->done[i], module))
			return 0;
	snprintf(name, sizeof(name), "%.*s.js", (int)module.bytes, module.at);
	file = file_named(text_of(name));
	if (file.at == NULL || bundle->done_count == MODULES_MAX)
		return err_set(bundle->err, "the page has no module %s", name);
	bundle->done[bundle->done_count++] = module;
	for (rest = file; rest.bytes > 0;) {
		struct text line = next_line(&rest);

		if (begins(line, "import ") && imported(line, &what, &other) &&
		    add_module(bundle, other, false) != 0)
			return -1;
	}
	return put_module(bundle, module, file, is_main);
}

/* ---- text of the file ---- */

static int
make_script(struct buffer *to, struct err *err)
{
	struct bundle bundle = { .to = to, .err = err };

	put(to, "\n");
	if (add_module(&bundle, text_of("report"), true) != 0 ||
	    add_module(&bundle, text_of("app"), true) != 0)
		return -1;
	if (memmem(to->at, to->bytes, "</script", 8) != NULL ||
	    memmem(to->at, to->bytes, "<!--", 4) != NULL)
		return err_set(err, "a module of the page has markup in it");
	return 0;
}

static void
make_style(struct buffer *to)
{
	struct text file = file_named(text_of("style.css"));
	bool comment = false;

	put(to, "\n");
	while (file.bytes > 0) {
		struct text line = next_line(&file);

		while (line.bytes > 0 && *line.at == '\t')
			drop(&line, 1);
		if (is_comment(line, &comment))
			continue;
		squeeze_line(to, SQUEEZE_STYLE, line);
	}
}

static void
put_hash(FILE *file, const struct buffer *of)
{
	unsigned char hash[crypto_hash_sha256_BYTES];
	char text[HASH_CHARACTERS];

	crypto_hash_sha256(hash, of->at, of->bytes);
	sodium_bin2base64(text, sizeof(text), hash, sizeof(hash),
	    sodium_base64_VARIANT_ORIGINAL);
	fprintf(file, "'sha256-%s'", text);
}

static void
put_base64(FILE *file, const void *at, size_t bytes)
{
	size_t room =
	    sodium_base64_encoded_len(bytes, sodium_base64_VARIANT_ORIGINAL);
	char *text = memory_alloc(room);

	sodium_bin2base64(
	    text, room, at, bytes, sodium_base64_VARIANT_ORIGINAL);
	fputs(text, file);
	free(text);
}

/* The sentences, and the names of the metrics. */
static void
put_findings(struct json *json, const struct report_findings *findings)
{
	const struct report_metric *chosen[REPORT_METRICS];
	uint32_t count = report_metrics_choose(findings, chosen);

	json_add_array(json, "sentences");
	for (uint32_t i = 0; i < findings->sentence_count; i++)
		json_string(json, findings->sentences[i]);
	json_end_array(json);
	json_add_array(json, "addresses");
	for (uint32_t i = 0; i < findings->sentence_count; i++)
		json_string(json, findings->addresses[i]);
	json_end_array(json);
	json_add_array(json, "metrics");
	for (uint32_t i = 0; i < count; i++) {
		json_begin_object(json);
		json_add_text(json, "metric", chosen[i]->metric);
		json_add_text(json, "group", chosen[i]->group);
		json_end_object(json);
	}
	json_end_array(json);
}

static void
put_json(
    FILE *file, const struct report_answers *answers, struct text partition)
{
	char made[REPORT_MADE_BYTES];
	struct json json;

	json_init(&json, file, JSON_LINE | JSON_STRICT);
	json_begin_object(&json);
	json_add_text(&json, "pool", partition);
	json_add_string(&json, "made", report_made(made));
	json_add_string(&json, "left_out",
	    answers->left_out != NULL ? answers->left_out : "");
	put_findings(&json, &answers->findings);
	json_add_object(&json, "answers");
	for (uint32_t i = 0; i < answers->count; i++) {
		json_add_text(&json, answers->at[i].key,
		    (struct text){
			answers->at[i].text, (uint32_t)answers->at[i].bytes });
	}
	json_end_object(&json);
	json_end_object(&json);
}

static void
put_data(
    FILE *file, const struct report_answers *answers, struct text partition)
{
	char *text;
	size_t bytes, packed_bytes;
	FILE *to = memory_stream(&text, &bytes);
	unsigned char *packed;

	put_json(to, answers, partition);
	memory_stream_end(&to);
	packed = compress_gzip(text, bytes, COMPRESS_SMALL, &packed_bytes);
	fputs("<script type=\"application/octet-stream\" id=\"data\">", file);
	put_base64(file, packed, packed_bytes);
	fputs("</script>\n", file);
	free(packed);
	free(text);
}

static void
put_policy(FILE *file, const struct buffer *script, const struct buffer *style)
{
	fputs("<meta http-equiv=\"Content-Security-Policy\" "
	      "content=\"default-src 'none'; script-src ",
	    file);
	put_hash(file, script);
	fputs("; style-src ", file);
	put_hash(file, style);
	fputs("; img-src data:; base-uri 'none'; form-action 'none'; "
	      "require-trusted-types-for 'script'; trusted-types 'none'\">\n",
	    file);
}

static void
put_element(FILE *file, const char *tag, const char *attributes,
    const struct buffer *content)
{
	fprintf(file, "<%s%s>", tag, attributes);
	fwrite(content->at, 1, content->bytes, file);
	fprintf(file, "</%s>\n", tag);
}

static void
put_page(FILE *file, const struct report_answers *answers,
    const struct report_trace *trace, struct text partition,
    const struct buffer *script, const struct buffer *style)
{
	struct text page = file_named(text_of("index.html"));

	while (page.bytes > 0) {
		struct text line = next_line(&page);

		if (begins(line, "<link rel=\"modulepreload\"") ||
		    begins(line, "<script"))
			continue;
		if (begins(line, "<link rel=\"stylesheet\"")) {
			put_element(file, "style", "", style);
			continue;
		}
		if (begins(line, "</body>")) {
			put_data(file, answers, partition);
			if (trace->at != NULL) {
				fputs("<script type=\"application/"
				      "octet-stream\" id=\"trace\">",
				    file);
				put_base64(file, trace->at, trace->bytes);
				fputs("</script>\n", file);
			}
			put_element(file, "script", " type=\"module\"", script);
		}
		fprintf(file, "%.*s\n", (int)line.bytes, line.at);
		if (begins(line, "<meta charset"))
			put_policy(file, script, style);
	}
}

int
report_page_write(FILE *file, const struct report_answers *answers,
    const struct report_trace *trace, struct text partition, struct err *err)
{
	struct buffer script = { NULL, 0, 0 }, style = { NULL, 0, 0 };
	int rc = make_script(&script, err);

	if (rc == 0) {
		make_style(&style);
		put_page(file, answers, trace, partition, &script, &style);
	}
	buffer_clear(&script);
	buffer_clear(&style);
	return rc;
}
