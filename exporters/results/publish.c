/*
 * result_publish - store a result file as entities.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/results/publish.h"

#include <assert.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/results/read.h"
#include "proto/base/memory.h"
#include "proto/os/clock.h"
#include "proto/wire/wire.h"

enum {
	PAIRS_MORE_BYTES =
	    8 << 10, /* bytes of a result in addition to the file's text */
	DIGEST_DIGITS = 2 * RESULT_DIGEST_BYTES,
	/* A text up to this size is sent together with the attributes. */
	PACKED_BYTES_MAX = WIRE_FRAME_BYTES_MAX - 16 * 1024,
};

/* What all entities of a file share. */
struct putting {
	struct publisher *publisher;
	const struct result_file *result;
	char run[RESULT_ID_RUN_BYTES + 1]; /* id of the run entity */
	struct err *err;
};

static int
put_entity(const struct putting *p, const char *kind, struct text id,
    const struct wire_writer *pairs, uint32_t attributes)
{
	const struct record record = { .kind = RECORD_ENTITY,
		.source = text_of(kind),
		.name = id,
		.attributes = attributes,
		.pairs = { (const char *)pairs->at, (uint32_t)pairs->bytes } };
	bool fits;

	assert(!pairs->full);
	return publisher_put(p->publisher, &record, &fits, p->err);
}

static void
add_text(struct wire_writer *pairs, const char *key, struct text text)
{
	wire_put_text_attribute(pairs, text_of(key), text);
}

static void
add_int(struct wire_writer *pairs, const char *key, int64_t number)
{
	const struct value value = { .type = VALUE_INT, .is.i = number };

	wire_put_attribute(pairs, text_of(key), &value);
}

static int
put_entry(const struct putting *p, uint32_t number)
{
	const struct result_entry *entry = &p->result->entries[number];
	unsigned char room[2 * RESULT_NAME_BYTES_MAX + 1024];
	struct wire_writer pairs;
	char id[RESULT_ID_BYTES];

	wire_writer_init(&pairs, room, sizeof(room));
	add_text(&pairs, "test", p->result->test);
	add_text(&pairs, "entry", entry->name);
	add_int(&pairs, "start_us", p->result->start_us);
	wire_put_attribute(&pairs, text_of("timing"), &entry->timing);
	result_id_entry(id, p->run, p->result->test, entry->name, number);
	return put_entity(p, RESULT_KIND_ENTRY,
	    (struct text){ id, sizeof(id) - 1 }, &pairs, 4);
}

static int
put_test(const struct putting *p, const char *name)
{
	unsigned char room[RESULT_NAME_BYTES_MAX + 64];
	struct wire_writer pairs;

	wire_writer_init(&pairs, room, sizeof(room));
	add_text(&pairs, "test", p->result->test);
	return put_entity(p, RESULT_KIND_TEST, text_of(name), &pairs, 1);
}

static int
put_run(const struct putting *p, const char *file_name, int64_t stored_ns)
{
	size_t room = p->result->text.bytes + PAIRS_MORE_BYTES;
	char quoted[4 * NAME_BYTES_MAX + 1];
	unsigned char *at = memory_alloc(room);
	struct text file = text_of(file_name);
	struct wire_writer pairs;
	int rc;

	if (!text_is_utf8(file))
		file = text_of(text_quote(quoted, sizeof(quoted), file));
	wire_writer_init(&pairs, at, room);
	add_text(&pairs, "test", p->result->test);
	add_int(&pairs, "start_us", p->result->start_us);
	add_text(&pairs, "info", p->result->text);
	add_int(&pairs, "stored_ns", stored_ns);
	add_text(&pairs, "file", file);
	add_int(&pairs, "entries", p->result->count);
	rc = put_entity(p, RESULT_KIND_RUN, text_of(p->run), &pairs, 6);
	free(at);
	return rc;
}

/* Is the text too large to send, even after compression? */
static bool
travels(struct text text)
{
	unsigned char *packed;
	bool fits;

	if (text.bytes <= PACKED_BYTES_MAX)
		return true;
	packed = memory_alloc(PACKED_BYTES_MAX);
	fits = wire_compress(packed, PACKED_BYTES_MAX, text) > 0;
	free(packed);
	return fits;
}

int
result_put(struct publisher *publisher, const struct result_file *result,
    const char *file_name, int64_t *stored_ns, bool *fits, struct err *err)
{
	struct putting p = {
		.publisher = publisher, .result = result, .err = err
	};
	char name[25], time[17], digest[DIGEST_DIGITS + 1];
	int64_t now_ns = clock_wall_ns();

	*fits = travels(result->text);
	if (!*fits)
		return err_set(err,
		    "it is larger than %d bytes, even compressed",
		    (int)PACKED_BYTES_MAX);
	result_id_time(time, result->start_us);
	sodium_bin2hex(
	    digest, sizeof(digest), result->digest, sizeof(result->digest));
	result_id_name(name, result->test, (struct text){ NULL, 0 });
	snprintf(p.run, sizeof(p.run), "%s/%s/%s", name, time, digest);
	for (uint32_t i = 0; i < result->count; i++)
		if (put_entry(&p, i) != 0)
			return -1;
	if (put_test(&p, name) != 0)
		return -1;
	/* It increases with each file, which makes it the order of storing. */
	*stored_ns = now_ns > *stored_ns ? now_ns : *stored_ns + 1;
	return put_run(&p, file_name, *stored_ns);
}

/* ---- upload records ---- */

void
result_upload_id(char *to,
    const unsigned char digest[static RESULT_DIGEST_BYTES], const char *target)
{
	char digits[DIGEST_DIGITS + 1], hashed[DIGEST_DIGITS + 1];
	unsigned char hash[RESULT_DIGEST_BYTES];
	const struct text text = text_of(target);

	sodium_bin2hex(digits, sizeof(digits), digest, RESULT_DIGEST_BYTES);
	if (text_check_name(text) == TEXT_OK &&
	    text.bytes + DIGEST_DIGITS + 1 <= NAME_BYTES_MAX) {
		snprintf(to, RESULT_UPLOAD_ID_BYTES, "%s/%s", digits, target);
		return;
	}
	crypto_generichash(hash, sizeof(hash), (const unsigned char *)target,
	    text.bytes, NULL, 0);
	sodium_bin2hex(hashed, sizeof(hashed), hash, sizeof(hash));
	snprintf(to, RESULT_UPLOAD_ID_BYTES, "%s/#%s", digits, hashed);
}

int
result_put_upload(
    struct publisher *publisher, const char *upload_id, struct err *err)
{
	const struct putting p = { .publisher = publisher, .err = err };
	unsigned char room[64];
	struct wire_writer pairs;

	wire_writer_init(&pairs, room, sizeof(room));
	add_int(&pairs, "done_ns", clock_wall_ns());
	return put_entity(
	    &p, RESULT_KIND_UPLOAD, text_of(upload_id), &pairs, 1);
}
