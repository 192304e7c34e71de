/*
 * s3_reply - parse the answers of S3 about multipart uploads.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/s3_reply.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/cloud/xml.h"
#include "proto/base/memory.h"
#include "proto/base/number.h"

static bool
is_at(const char *path, const char *wanted)
{
	return strcmp(path, wanted) == 0;
}

/* -1 if the text does not fit: a truncated id would be another id. */
static int
take(
    char *to, size_t room, struct text value, const char *what, struct err *err)
{
	if (value.bytes >= room || memchr(value.at, '\0', value.bytes) != NULL)
		return err_set(
		    err, "%s of more than %zu bytes", what, room - 1);
	memcpy(to, value.at, value.bytes);
	to[value.bytes] = '\0';
	return 0;
}

struct text
s3_etag_bare(struct text etag)
{
	if (etag.bytes >= 2 && etag.at[0] == '"' &&
	    etag.at[etag.bytes - 1] == '"') {
		etag.at++;
		etag.bytes -= 2;
	}
	return etag;
}

bool
s3_etag_md5(struct text etag, unsigned char md5[static MD5_BYTES])
{
	size_t bytes = 0;

	etag = s3_etag_bare(etag);
	return etag.bytes == 2 * MD5_BYTES &&
	       sodium_hex2bin(md5, MD5_BYTES, etag.at, etag.bytes, NULL, &bytes,
		   NULL) == 0 &&
	       bytes == MD5_BYTES;
}

/* ---- uploads ---- */

struct uploads_reading {
	struct s3_uploads *uploads;
	char key[S3_KEY_BYTES], id[S3_ID_BYTES], begun[40];
};

static int
on_upload(void *arg, const char *path, struct text value, struct err *err)
{
	struct uploads_reading *r = arg;
	struct s3_uploads *u = r->uploads;

	if (strncmp(path, "ListMultipartUploadsResult/", 27) != 0)
		return 0;
	path += 27;
	if (is_at(path, "IsTruncated"))
		u->more = text_equal(value, text_of("true"));
	else if (is_at(path, "NextKeyMarker"))
		return take(
		    u->next_key, sizeof(u->next_key), value, "a key", err);
	else if (is_at(path, "NextUploadIdMarker"))
		return take(
		    u->next_id, sizeof(u->next_id), value, "an id", err);
	else if (is_at(path, "Upload/Key"))
		return take(r->key, sizeof(r->key), value, "a key", err);
	else if (is_at(path, "Upload/UploadId"))
		return take(r->id, sizeof(r->id), value, "an id", err);
	else if (is_at(path, "Upload/Initiated"))
		return take(r->begun, sizeof(r->begun), value, "a time", err);
	else if (is_at(path, "Upload")) {
		if (r->id[0] != '\0' && is_at(r->key, u->key) &&
		    strcmp(r->begun, u->begun) >= 0) {
			strcpy(u->id, r->id);
			strcpy(u->begun, r->begun);
		}
		r->key[0] = r->id[0] = r->begun[0] = '\0';
	}
	return 0;
}

int
s3_read_uploads(struct s3_uploads *uploads, struct text body, struct err *err)
{
	struct uploads_reading r = { .uploads = uploads };

	uploads->more = false;
	uploads->next_key[0] = uploads->next_id[0] = '\0';
	return xml_read(body, on_upload, &r, err);
}

/* ---- parts ---- */

struct parts_reading {
	struct s3_parts *parts;
	uint64_t number, bytes;
	unsigned char md5[MD5_BYTES];
	bool known; /* its ETag is an MD5 */
};

static int
take_number(uint64_t *to, struct text value, struct err *err)
{
	if (number_parse_u64(value, to, NULL) != 0)
		return err_set(err, "a part number is not a number");
	return 0;
}

static int
on_part(void *arg, const char *path, struct text value, struct err *err)
{
	struct parts_reading *r = arg;

	if (strncmp(path, "ListPartsResult/", 16) != 0)
		return 0;
	path += 16;
	if (is_at(path, "IsTruncated"))
		r->parts->more = text_equal(value, text_of("true"));
	else if (is_at(path, "NextPartNumberMarker") && value.bytes > 0)
		return take_number(&r->parts->next, value, err);
	else if (is_at(path, "Part/PartNumber"))
		return take_number(&r->number, value, err);
	else if (is_at(path, "Part/Size"))
		return take_number(&r->bytes, value, err);
	else if (is_at(path, "Part/ETag"))
		r->known = s3_etag_md5(value, r->md5);
	else if (is_at(path, "Part")) {
		if (r->number == 0 || r->number > S3_PARTS_MAX)
			return err_set(err,
			    "a part number is not between 1 and %d",
			    S3_PARTS_MAX);
		r->parts->at[r->number].bytes = r->bytes;
		r->parts->at[r->number].there = r->known;
		memcpy(r->parts->at[r->number].md5, r->md5, MD5_BYTES);
		r->number = r->bytes = 0;
		r->known = false;
	}
	return 0;
}

int
s3_read_parts(struct s3_parts *parts, struct text body, struct err *err)
{
	struct parts_reading r = { .parts = parts };
	uint64_t before = parts->next;

	parts->more = false;
	if (xml_read(body, on_part, &r, err) != 0)
		return -1;
	/* Repeating the same marker would request the same page forever. */
	if (parts->more && parts->next <= before)
		return err_set(err,
		    "protocol error: the list of parts repeats the same page");
	return 0;
}

/* ---- other answers ---- */

static int
on_id(void *arg, const char *path, struct text value, struct err *err)
{
	if (!is_at(path, "InitiateMultipartUploadResult/UploadId"))
		return 0;
	return take(arg, S3_ID_BYTES, value, "an id", err);
}

int
s3_read_id(char id[static S3_ID_BYTES], struct text body, struct err *err)
{
	id[0] = '\0';
	if (xml_read(body, on_id, id, err) != 0)
		return -1;
	return id[0] != '\0' ? 0 : err_set(err, "the answer has no upload id");
}

static int
on_whole(void *arg, const char *path, struct text value, struct err *err)
{
	if (!is_at(path, "CompleteMultipartUploadResult/ETag"))
		return 0;
	return take(arg, 128, value, "an ETag", err);
}

int
s3_read_whole(char etag[static 128], struct text body, struct err *err)
{
	struct service_error service_error;

	etag[0] = '\0';
	if (body.bytes == 0)
		return 0;
	service_error_read(&service_error, body);
	if (service_error.code[0] != '\0') {
		char code[200], message[600];

		return err_set(err, "%s: %s",
		    text_quote(code, sizeof(code), text_of(service_error.code)),
		    text_quote(message, 300, text_of(service_error.message)));
	}
	return xml_read(body, on_whole, etag, err);
}

char *
s3_whole_list(const struct s3_put *put, uint32_t count, size_t *bytes)
{
	size_t room = 64 + (size_t)count * (64 + 6 * S3_ETAG_BYTES), used;
	char *body = memory_alloc(room), etag[6 * S3_ETAG_BYTES];

	used = (size_t)snprintf(body, room, "<CompleteMultipartUpload>");
	for (uint32_t i = 1; i <= count; i++) {
		xml_escape(etag, sizeof(etag), text_of(put[i].etag));
		used += (size_t)snprintf(body + used, room - used,
		    "<Part><PartNumber>%u</PartNumber><ETag>%s</ETag></Part>",
		    i, etag);
	}
	used += (size_t)snprintf(
	    body + used, room - used, "</CompleteMultipartUpload>");
	*bytes = used;
	return body;
}

int
s3_whole_etag(char to[static S3_WHOLE_BYTES], const struct s3_put *put,
    uint32_t count, struct err *err)
{
	unsigned char sum[MD5_BYTES];
	char hex[MD5_HEX_BYTES];
	struct md5 *md5;

	if (md5_open(&md5, err) != 0)
		return -1;
	for (uint32_t i = 1; i <= count; i++)
		md5_add(
		    md5, (struct text){ (const char *)put[i].md5, MD5_BYTES });
	md5_end(md5, sum);
	md5_close(&md5);
	md5_hex(hex, sum);
	snprintf(to, S3_WHOLE_BYTES, "%s-%u", hex, count);
	return 0;
}
