/*
 * trace_writer - write the events of a timeline in the chosen format, to a file
 * whose name implies it.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/trace_writer.h"

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/memory.h"
#include "proto/base/version.h"
#include "proto/os/clock.h"
#include "proto/wire/wire.h"

void
size_limit_init(struct size_limit *limit, int64_t from_ns, int64_t to_ns)
{
	assert(from_ns < to_ns);
	memset(limit, 0, sizeof(*limit));
	limit->from_ns = from_ns;
	limit->to_ns = to_ns;
	string_table_init(&limit->nodes);
}

void
size_limit_clear(struct size_limit *limit)
{
	string_table_clear(&limit->nodes);
	free(limit->node_bytes);
	limit->node_bytes = NULL;
}

static int64_t
section_ns(const struct size_limit *limit)
{
	return (limit->to_ns - limit->from_ns - 1) / SIZE_LIMIT_SECTIONS + 1;
}

void
size_limit_add_name(struct size_limit *limit, struct text node, uint64_t bytes)
{
	uint32_t before = limit->nodes.count;
	uint32_t number = string_table_add(&limit->nodes, node);

	MEMORY_GROW(limit->node_bytes, limit->node_room, number);
	if (number == before)
		limit->node_bytes[number] = 0;
	limit->node_bytes[number] += bytes;
}

void
size_limit_add(
    struct size_limit *limit, int64_t time_ns, struct text node, uint64_t bytes)
{
	int64_t section = time_ns < limit->from_ns
			      ? 0
			      : (time_ns - limit->from_ns) / section_ns(limit);

	if (section >= SIZE_LIMIT_SECTIONS)
		section = SIZE_LIMIT_SECTIONS - 1;
	limit->bytes[section] += bytes;
	size_limit_add_name(limit, node, bytes);
}

void
size_limit_nodes(const struct size_limit *limit,
    const struct string_table *order, uint64_t total, uint64_t max,
    struct string_table *fit)
{
	uint64_t bytes = total;
	uint32_t number;

	for (uint32_t i = 0; i < limit->nodes.count; i++)
		bytes -= limit->node_bytes[i];
	for (uint32_t i = 0; i < order->count; i++) {
		if (!string_table_find(&limit->nodes, order->names[i], &number))
			continue;
		if (bytes + limit->node_bytes[number] > max)
			continue;
		bytes += limit->node_bytes[number];
		(void)string_table_add(fit, order->names[i]);
	}
}

int64_t
size_limit_time(const struct size_limit *limit, uint64_t total, uint64_t max)
{
	uint64_t bytes = total;
	int64_t end_ns = limit->from_ns;
	int i;

	for (i = 0; i < SIZE_LIMIT_SECTIONS; i++)
		bytes -= limit->bytes[i];
	i = 0;
	while (i < SIZE_LIMIT_SECTIONS && bytes + limit->bytes[i] <= max)
		bytes += limit->bytes[i++];
	end_ns += (i > 0 ? i : 1) * section_ns(limit);
	if (end_ns >= limit->to_ns)
		end_ns = limit->to_ns - 1;
	return end_ns > limit->from_ns ? end_ns : limit->from_ns + 1;
}

enum { MEMBER_BYTES = 100 };

static bool
ends_with(struct text name, const char *suffix)
{
	size_t bytes = strlen(suffix);

	return name.bytes >= bytes &&
	       memcmp(name.at + name.bytes - bytes, suffix, bytes) == 0;
}

int
trace_format_of(const char *path, enum trace_format *format, struct err *err)
{
	static const struct {
		const char *suffix;
		enum trace_format format;
	} names[] = { { ".trace", TRACE_JSON }, { ".json", TRACE_JSON },
		{ ".json.gz", TRACE_JSON_GZIP }, { ".tar.gz", TRACE_TAR_GZIP },
		{ ".pftrace", TRACE_PROTO } };

	if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {
		*format = TRACE_JSON;
		return 0;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (ends_with(text_of(path), names[i].suffix)) {
			*format = names[i].format;
			return 0;
		}
	return err_set(err,
	    "%s: the suffix must be one of .trace or .json, .json.gz, .tar.gz, "
	    ".pftrace",
	    path);
}

/* NAME.trace for DIR/NAME or DIR/NAME.tar.gz; a name longer than tar allows is
 * cut between characters. */
static struct text
member_of(char to[static MEMBER_BYTES + 1], const char *path)
{
	static const char suffix[] = ".trace";
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;
	size_t bytes = strlen(name);
	size_t most = MEMBER_BYTES - (sizeof(suffix) - 1);

	if (ends_with(text_of(name), ".tar.gz"))
		bytes -= strlen(".tar.gz");
	if (bytes > most) {
		bytes = most;
		while (bytes > 0 && ((unsigned char)name[bytes] & 0xC0) == 0x80)
			bytes--;
	}
	memcpy(to, name, bytes);
	strcpy(to + bytes, suffix);
	return text_of(to);
}

int
trace_output_open(struct trace_output *output, const char *path,
    enum trace_format format, struct err *err)
{
	static const enum byte_stream_kind kinds[] = {
		[TRACE_JSON] = BYTE_STREAM_PLAIN,
		[TRACE_JSON_GZIP] = BYTE_STREAM_GZIP,
		[TRACE_TAR_GZIP] = BYTE_STREAM_TAR_GZIP,
		[TRACE_PROTO] = BYTE_STREAM_PLAIN,
	};
	char name[MEMBER_BYTES + 1];
	struct text member = { NULL, 0 };

	if (output_open(&output->output, path, err) != 0)
		return -1;
	if (format == TRACE_TAR_GZIP)
		member = member_of(name, path);
	if (byte_stream_begin(&output->byte_stream, output->output.file,
		kinds[format], member, err) == 0)
		return 0;
	output_abort(&output->output);
	return err_prefix(err, "%s", path);
}

int
trace_output_commit(struct trace_output *output, struct err *err)
{
	if (byte_stream_end(&output->byte_stream, err) == 0)
		return output_commit_logged(&output->output, "", err);
	err_prefix(err, "%s", output->output.path);
	output_abort(&output->output);
	return -1;
}

void
trace_output_abort(struct trace_output *output)
{
	struct err ignored;

	(void)byte_stream_end(&output->byte_stream, &ignored);
	output_abort(&output->output);
}

enum { ABOUT_BYTES = 2048 };

static void
put_about(struct wire_writer *w, const char *key, const char *value)
{
	wire_put_text_attribute(w, text_of(key), text_of(value));
}

static struct text
make_about(char to[static ABOUT_BYTES], const struct trace_about *about)
{
	struct wire_writer w;
	char text[64];

	wire_writer_init(&w, to, ABOUT_BYTES);
	put_about(&w, "source", "poolscope " VERSION);
	wire_put_text_attribute(&w, text_of("partition"), about->partition);
	if (about->job != NULL)
		put_about(&w, "job", about->job);
	/* A JSON number would lose digits. */
	snprintf(text, sizeof(text), "%" PRId64, about->base_ns);
	put_about(&w, "base_ns", text);
	put_about(&w, "base", clock_text(text, about->base_ns, 9));
	put_about(&w, "end", clock_text(text, about->end_ns, 9));
	if (about->clock != NULL)
		put_about(&w, "clock", about->clock);
	return (struct text){ to, (uint32_t)w.bytes };
}

void
trace_writer_begin(struct trace_writer *sink, enum trace_format format,
    struct byte_stream *byte_stream, const struct trace_about *about)
{
	char text[ABOUT_BYTES];
	struct text pairs = make_about(text, about);

	*sink = (struct trace_writer){ .format = format,
		.byte_stream = byte_stream };
	if (format == TRACE_PROTO)
		sink->proto =
		    perfetto_begin(byte_stream, about->base_ns, pairs);
	else
		chrome_json_begin_object(&sink->json, byte_stream, pairs);
}

uint64_t
trace_writer_end(struct trace_writer *sink)
{
	uint64_t bytes;

	if (sink->proto == NULL) {
		chrome_json_end(&sink->json);
		return trace_writer_bytes(sink);
	}
	bytes = trace_writer_bytes(sink);
	perfetto_end(&sink->proto);
	return bytes;
}

uint64_t
trace_writer_bytes(const struct trace_writer *sink)
{
	return sink->proto != NULL ? perfetto_bytes(sink->proto)
				   : byte_stream_bytes(sink->byte_stream);
}

void
trace_writer_complete(
    struct trace_writer *sink, const struct trace_slice *slice)
{
	if (sink->proto != NULL)
		perfetto_complete(sink->proto, slice);
	else
		chrome_json_complete(&sink->json, slice);
}

void
trace_writer_instant(struct trace_writer *sink, const struct trace_slice *slice)
{
	if (sink->proto != NULL)
		perfetto_instant(sink->proto, slice);
	else
		chrome_json_instant(&sink->json, slice);
}

void
trace_writer_counter(struct trace_writer *sink, int64_t pid, struct text name,
    struct text unit, int64_t time_ns, double value)
{
	if (sink->proto != NULL)
		perfetto_counter(sink->proto, pid, name, unit, time_ns, value);
	else
		chrome_json_counter(&sink->json, pid, name,
		    unit.bytes > 0 ? unit : text_of("value"), time_ns, value);
}

void
trace_writer_process(
    struct trace_writer *sink, int64_t pid, struct text name, int64_t position)
{
	if (sink->proto != NULL) {
		perfetto_process(sink->proto, pid, name, position);
		return;
	}
	chrome_json_process_name(&sink->json, pid, name);
	chrome_json_process_sort(&sink->json, pid, position);
}

void
trace_writer_thread(struct trace_writer *sink, int64_t pid, int64_t tid,
    struct text name, int64_t position)
{
	if (sink->proto != NULL) {
		perfetto_thread(sink->proto, pid, tid, name, position);
		return;
	}
	chrome_json_thread_name(&sink->json, pid, tid, name);
	chrome_json_thread_sort(&sink->json, pid, tid, position);
}
