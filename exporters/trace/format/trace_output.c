/*
 * trace_output - the output file of a trace; its name implies the format.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/trace/format/trace_output.h"

#include <stdbool.h>

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
		return output_commit(&output->output, err);
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
