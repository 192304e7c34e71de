/*
 * import_descriptor - reads the descriptors of jobs.
 * SPDX-License-Identifier: MIT
 */
#include "agents/import/scanner/descriptor.h"

#include <inttypes.h>

enum {
	NAME_READ_MAX = 64 << 10, /* of a name, and of a job in the list */
	SKIP_BYTES = 64 << 10,
	VARINT_BYTES_MAX = 10,
	FIELD_ID = 1,
	FIELD_NAME = 2,
	FIELD_JOBS = 3,
	FIELD_NODES = 5,
};

enum wire_type { VARINT, FIXED64, BYTES, GROUP, GROUP_END, FIXED32 };

struct field {
	uint32_t number;
	enum wire_type type;
	uint64_t value; /* BYTES: the length */
};

/* The input: a file, or a text in memory. */
struct input {
	struct import_file *file; /* NULL: the input is `rest` */
	struct text rest;
	struct err *err;
};

static int
cut_off(const struct input *in, const char *why)
{
	if (in->file == NULL)
		return err_set(in->err, "%s", why);
	return err_set(
	    in->err, "offset %" PRIu64 ": %s", in->file->offset, why);
}

/* View at least `least` bytes; 1, 0: there are fewer, -1. */
static int
see(struct input *in, uint32_t least)
{
	if (in->file != NULL &&
	    import_file_see(in->file, least, &in->rest, in->err) != 0)
		return -1;
	return in->rest.bytes >= least;
}

static void
take(struct input *in, uint32_t bytes)
{
	if (in->file != NULL) {
		import_file_take(in->file, bytes);
	} else {
		in->rest.at += bytes;
		in->rest.bytes -= bytes;
	}
}

static int
take_varint(struct input *in, uint64_t *value)
{
	*value = 0;
	for (uint32_t i = 0; i < VARINT_BYTES_MAX; i++) {
		int there = see(in, i + 1);
		unsigned char byte;

		if (there < 0)
			return -1;
		if (there == 0)
			return cut_off(in, "it ends in the middle of a number");
		byte = (unsigned char)in->rest.at[i];
		if (i == VARINT_BYTES_MAX - 1 && byte > 1)
			break;
		*value |= (uint64_t)(byte & 0x7F) << 7 * i;
		if (byte < 0x80) {
			take(in, i + 1);
			return 0;
		}
	}
	return cut_off(in, "a number is longer than 64 bits");
}

/* The next field, and its value unless it is BYTES.  1, 0 at the end, -1. */
static int
take_field(struct input *in, struct field *field)
{
	uint64_t key;
	uint32_t fixed;
	int there = see(in, 1);

	if (there <= 0)
		return there;
	if (take_varint(in, &key) != 0)
		return -1;
	if (key >> 3 == 0 || key >> 3 > UINT32_MAX >> 3 || (key & 7) > FIXED32)
		return cut_off(in, "the field key before it is invalid");
	field->number = (uint32_t)(key >> 3);
	field->type = (enum wire_type)(key & 7);
	switch (field->type) {
	case VARINT:
	case BYTES: return take_varint(in, &field->value) == 0 ? 1 : -1;
	case FIXED64:
	case FIXED32:
		fixed = field->type == FIXED64 ? 8 : 4;
		there = see(in, fixed);
		if (there < 0)
			return -1;
		if (there == 0)
			return cut_off(in, "it ends in the middle of a field");
		take(in, fixed);
		return 1;
	default: return 1; /* groups have no value: their fields follow */
	}
}

static int
skip(struct input *in, uint64_t bytes)
{
	while (bytes > 0) {
		uint32_t piece =
		    bytes > SKIP_BYTES ? SKIP_BYTES : (uint32_t)bytes;
		int there = see(in, piece);

		if (there < 0)
			return -1;
		if (there == 0)
			return cut_off(in, "it ends in the middle of a field");
		take(in, piece);
		bytes -= piece;
	}
	return 0;
}

/* The bytes of a field; a view, valid until `take`, which the caller calls. */
static int
view(struct input *in, const struct field *field, struct text *bytes)
{
	int there;

	if (field->value > NAME_READ_MAX)
		return cut_off(in, "a name is longer than 64 KiB");
	there = see(in, (uint32_t)field->value);
	if (there < 0)
		return -1;
	if (there == 0)
		return cut_off(in, "it ends in the middle of a name");
	*bytes = (struct text){ in->rest.at, (uint32_t)field->value };
	return 0;
}

static int
take_name(struct input *in, const struct field *field, struct import_name *name)
{
	struct text bytes;

	if (view(in, field, &bytes) != 0)
		return -1;
	import_name_set(name, bytes);
	take(in, bytes.bytes);
	return 0;
}

int
import_descriptor_read(struct import_descriptor *descriptor,
    struct import_file *file, struct err *err)
{
	struct input in = { .file = file, .err = err };
	struct field field;
	int rc;

	*descriptor = (struct import_descriptor){ .id = 0 };
	while ((rc = take_field(&in, &field)) > 0) {
		if (field.type == BYTES && field.number == FIELD_NAME)
			rc = take_name(&in, &field, &descriptor->name);
		else if (field.type == BYTES)
			rc = skip(&in, field.value);
		else if (field.type == VARINT && field.number == FIELD_ID)
			descriptor->id = (int32_t)(uint32_t)field.value;
		else if (field.type == VARINT && field.number == FIELD_NODES)
			descriptor->nodes = (int32_t)(uint32_t)field.value;
		if (rc < 0)
			break;
	}
	return rc < 0 ? -1 : 0;
}

/* One job of the list.  1: it has this name. */
static int
match_job(struct text job, struct text name, int32_t *id, struct err *err)
{
	struct input in = { .rest = job, .err = err };
	struct field field;
	int32_t found = 0;
	bool is_it = name.bytes == 0;
	int rc;

	while ((rc = take_field(&in, &field)) > 0) {
		struct text bytes;

		if (field.type == VARINT && field.number == FIELD_ID)
			found = (int32_t)(uint32_t)field.value;
		if (field.type != BYTES)
			continue;
		rc = view(&in, &field, &bytes);
		if (rc != 0)
			break;
		if (field.number == FIELD_NAME)
			is_it = text_equal(bytes, name);
		take(&in, bytes.bytes);
	}
	if (rc < 0)
		return -1;
	if (is_it)
		*id = found;
	return is_it;
}

int
import_descriptor_find(
    struct import_file *file, struct text name, int32_t *id, struct err *err)
{
	struct input in = { .file = file, .err = err };
	struct field field;
	int found = 0, rc;

	while ((rc = take_field(&in, &field)) > 0) {
		struct text job;
		int is_it;

		if (field.type != BYTES)
			continue;
		if (field.number != FIELD_JOBS) {
			rc = skip(&in, field.value);
			if (rc != 0)
				break;
			continue;
		}
		rc = view(&in, &field, &job);
		if (rc != 0)
			break;
		is_it = match_job(job, name, id, err);
		if (is_it < 0) {
			rc = err_prefix(err,
			    "offset %" PRIu64 ": in the list of jobs",
			    file->offset);
			break;
		}
		found |= is_it;
		take(&in, job.bytes);
	}
	return rc < 0 ? -1 : found;
}
