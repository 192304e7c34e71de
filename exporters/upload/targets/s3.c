/*
 * target_s3 - upload a file as an object of S3.
 *
 * The service verifies each part by its SHA-256 and MD5.  The newest
 * unfinished upload of the key is resumed: parts that are stored with the same
 * length and MD5 are not sent again.
 * SPDX-License-Identifier: MIT
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/cloud/file_put.h"
#include "exporters/cloud/s3.h"
#include "exporters/upload/targets/target.h"
#include "proto/base/memory.h"
#include "proto/os/log.h"

enum {
	PATH_BYTES = 3 * S3_KEY_BYTES + 1,
	QUERY_BYTES = 3 * (2 * S3_KEY_BYTES + S3_ID_BYTES) + 128,
	PAGES_MAX = 1000,
};

struct target {
	struct s3 s3;
	char name[S3_KEY_BYTES + 80]; /* "s3:..." */
	char key[S3_KEY_BYTES], path[PATH_BYTES];
	const char *type;
	char id[3 * S3_ID_BYTES]; /* id of the upload, encoded; "": none */
	struct s3_parts there;
	struct s3_put put[S3_PARTS_MAX + 1]; /* ordered by number, from 1 */
	uint32_t count;
};

static const char *const no_headers[] = { NULL };
static const struct text no_body = { NULL, 0 };

/* BUCKET/KEY */
static int
check_name(const char *rest, struct err *err)
{
	const char *slash = strchr(rest, '/');
	size_t bytes = slash != NULL ? (size_t)(slash - rest) : 0;

	if (slash == NULL)
		return err_set(err, "s3:BUCKET/KEY: the key is missing");
	if (bytes < 3 || bytes > 63 ||
	    strspn(rest, "abcdefghijklmnopqrstuvwxyz0123456789.-_") < bytes)
		return err_set(err, "s3:BUCKET/KEY: the bucket is not 3 to 63 "
				    "lower-case letters, digits, dots and "
				    "hyphens");
	if (slash[1] == '\0' || strlen(slash + 1) >= S3_KEY_BYTES)
		return err_set(err,
		    "s3:BUCKET/KEY: the key is not 1 to %d "
		    "bytes",
		    S3_KEY_BYTES - 1);
	if (!text_is_utf8(text_of(slash + 1)))
		return err_set(err, "s3:BUCKET/KEY: the key is not UTF-8");
	return 0;
}

static int
take_name(struct target *target, const char *rest, struct text *bucket,
    struct err *err)
{
	const char *slash = strchr(rest, '/');

	if (check_name(rest, err) != 0)
		return -1;
	*bucket = (struct text){ rest, (uint32_t)(slash - rest) };
	strcpy(target->key, slash + 1);
	target->path[0] = '/';
	http_encode(target->path + 1, sizeof(target->path) - 1,
	    text_of(target->key), "/");
	snprintf(target->name, sizeof(target->name), "s3:%s", rest);
	target->type = content_type(rest);
	return 0;
}

static void
close_target(struct target **to)
{
	if (*to == NULL)
		return;
	s3_close(&(*to)->s3);
	free(*to);
	*to = NULL;
}

static int
open_target(struct target **to, const char *rest,
    const struct http_options *how, struct err *err)
{
	struct target *target = memory_zero(1, sizeof(*target));
	struct text bucket;

	if (take_name(target, rest, &bucket, err) != 0 ||
	    s3_open(&target->s3, bucket, how, err) != 0) {
		close_target(&target);
		return -1;
	}
	*to = target;
	return 0;
}

/* Path of the object, with a query; of the bucket if `path` is "/". */
static int
ask(struct target *target, const char *method, const char *path,
    const char *query, const char *const *headers, struct text body,
    struct http_answer *answer, struct err *err)
{
	char all[PATH_BYTES + QUERY_BYTES];

	snprintf(all, sizeof(all), "%s%s", path, query);
	return s3_send(&target->s3, method, all, headers, body, answer, err);
}

/* With server-side encryption by another key the ETag is not an MD5. */
static int
check_etag(struct target *target, const struct file_part *part, struct err *err)
{
	struct text etag = http_header(target->s3.http, "ETag");
	struct text sealed =
	    http_header(target->s3.http, "x-amz-server-side-encryption");
	unsigned char md5[MD5_BYTES];

	if ((sealed.bytes > 0 && !text_equal(sealed, text_of("AES256"))) ||
	    !s3_etag_md5(etag, md5) || memcmp(md5, part->md5, MD5_BYTES) == 0)
		return 0;
	return err_set(
	    err, "checksum mismatch: the service received different bytes");
}

/* The service confirms what it stored with an ETag and no body. */
static int
put(struct target *target, const struct file_part *part, const char *query,
    const char *type, struct err *err)
{
	char md5[MD5_BASE64_BYTES], sum[64];
	const char *const headers[] = { sum, type, NULL };
	struct http_answer answer;

	md5_base64(md5, part->md5);
	snprintf(sum, sizeof(sum), "Content-MD5: %s", md5);
	if (ask(target, "PUT", target->path, query, headers, part->body,
		&answer, err) != 0)
		return -1;
	if (!http_is_dry(target->s3.http) &&
	    (answer.body.bytes > 0 ||
		http_header(target->s3.http, "ETag").bytes == 0))
		return http_unconfirmed(target->s3.http, &answer, err);
	return check_etag(target, part, err);
}

static int
put_whole(void *arg, const struct file_part *part, struct err *err)
{
	struct target *target = arg;
	char type[128];

	snprintf(type, sizeof(type), "Content-Type: %s", target->type);
	return put(target, part, "", type, err);
}

/* Find the newest unfinished upload of this key. */
static int
find_upload(struct target *target, struct s3_uploads *uploads, struct err *err)
{
	char query[QUERY_BYTES], prefix[PATH_BYTES], id[3 * S3_ID_BYTES];
	char key[PATH_BYTES];
	struct http_answer answer;

	*uploads = (struct s3_uploads){ .key = target->key };
	http_encode(prefix, sizeof(prefix), text_of(target->key), "");
	for (int page = 0; page < PAGES_MAX; page++) {
		key[0] = id[0] = '\0';
		http_encode(key, sizeof(key), text_of(uploads->next_key), "");
		http_encode(id, sizeof(id), text_of(uploads->next_id), "");
		snprintf(query, sizeof(query),
		    "?%s%s%smax-uploads=1000&prefix=%s%s%s&uploads",
		    key[0] != '\0' ? "key-marker=" : "", key,
		    key[0] != '\0' ? "&" : "", prefix,
		    id[0] != '\0' ? "&upload-id-marker=" : "", id);
		if (ask(target, "GET", "/", query, no_headers, no_body, &answer,
			err) != 0 ||
		    s3_read_uploads(uploads, answer.body, err) != 0)
			return -1;
		if (!uploads->more || uploads->next_key[0] == '\0')
			return 0;
	}
	return 0; /* give up after this many pages */
}

static int
list_parts(struct target *target, struct err *err)
{
	char query[QUERY_BYTES];
	struct http_answer answer;

	memset(&target->there, 0, sizeof(target->there));
	do {
		snprintf(query, sizeof(query),
		    "?max-parts=1000&part-number-marker=%llu&uploadId=%s",
		    (unsigned long long)target->there.next, target->id);
		if (ask(target, "GET", target->path, query, no_headers, no_body,
			&answer, err) != 0 ||
		    s3_read_parts(&target->there, answer.body, err) != 0)
			return -1;
	} while (target->there.more);
	return 0;
}

static int
create(struct target *target, struct err *err)
{
	char type[128], id[S3_ID_BYTES];
	const char *const headers[] = { type, NULL };
	struct http_answer answer;

	memset(&target->there, 0, sizeof(target->there));
	target->id[0] = '\0';
	snprintf(type, sizeof(type), "Content-Type: %s", target->type);
	if (ask(target, "POST", target->path, "?uploads=", headers, no_body,
		&answer, err) != 0)
		return -1;
	if (http_is_dry(target->s3.http))
		strcpy(id, "UPLOAD-ID");
	else if (s3_read_id(id, answer.body, err) != 0)
		return -1;
	http_encode(target->id, sizeof(target->id), text_of(id), "");
	return 0;
}

/* Without permission to list uploads, or without support for it, start a new
 * upload. */
static int
begin(void *arg, struct err *err)
{
	struct target *target = arg;
	struct s3_uploads *uploads = memory_alloc(sizeof(*uploads));
	struct err why = { 0 };
	int rc = 0;

	*uploads = (struct s3_uploads){ .key = target->key };
	if (!http_is_dry(target->s3.http))
		rc = find_upload(target, uploads, &why);
	if (rc == 0 && uploads->id[0] != '\0') {
		http_encode(
		    target->id, sizeof(target->id), text_of(uploads->id), "");
		rc = list_parts(target, &why);
	}
	free(uploads);
	if (rc != 0 && target->s3.lost) {
		*err = why;
		return -1;
	}
	if (rc != 0)
		log_info("%s: cannot resume an earlier upload, starting a new "
			 "one: %s",
		    target->name, why.text);
	return rc == 0 && target->id[0] != '\0' ? 0 : create(target, err);
}

static int
put_part(void *arg, const struct file_part *part, bool *there, struct err *err)
{
	struct target *target = arg;
	const struct s3_part *old = &target->there.at[part->number];
	struct s3_put *sent = &target->put[part->number];
	char query[3 * S3_ID_BYTES + 64], hex[MD5_HEX_BYTES];
	struct text etag;

	assert(part->number <= S3_PARTS_MAX);
	target->count = part->number;
	memcpy(sent->md5, part->md5, MD5_BYTES);
	md5_hex(hex, part->md5);
	snprintf(sent->etag, sizeof(sent->etag), "\"%s\"", hex);
	*there = old->there && old->bytes == part->body.bytes &&
		 memcmp(old->md5, part->md5, MD5_BYTES) == 0;
	if (*there)
		return 0;
	snprintf(query, sizeof(query), "?partNumber=%u&uploadId=%s",
	    part->number, target->id);
	if (put(target, part, query, NULL, err) != 0)
		return -1;
	/* It need not be an MD5. */
	etag = http_header(target->s3.http, "ETag");
	if (etag.bytes > 0 && etag.bytes < sizeof(sent->etag))
		snprintf(sent->etag, sizeof(sent->etag), "%.*s",
		    (int)etag.bytes, etag.at);
	return 0;
}

static int
check_whole(struct target *target, struct text body, struct err *err)
{
	char received[128], wanted[S3_WHOLE_BYTES];
	struct text etag;

	if (s3_read_whole(received, body, err) != 0 ||
	    s3_whole_etag(wanted, target->put, target->count, err) != 0)
		return -1;
	etag = s3_etag_bare(text_of(received));
	/* With another encryption key an ETag looks like an MD5 but is none. */
	if (etag.bytes <= 32 || strspn(etag.at, "0123456789abcdef") != 32 ||
	    etag.at[32] != '-' ||
	    http_header(target->s3.http, "x-amz-server-side-encryption").bytes >
		0 ||
	    text_equal(etag, text_of(wanted)))
		return 0;
	return err_set(err,
	    "verification failed: the stored object differs from the file");
}

/* Is the stored object the one that was sent?  If the answer to the completion
 * was lost, the upload id no longer exists when it is repeated, although the
 * object is complete. */
static bool
is_whole(struct target *target)
{
	char wanted[S3_WHOLE_BYTES];
	struct http_answer answer;
	struct err why;

	return s3_whole_etag(wanted, target->put, target->count, &why) == 0 &&
	       ask(target, "HEAD", target->path, "", no_headers, no_body,
		   &answer, &why) == 0 &&
	       text_equal(s3_etag_bare(http_header(target->s3.http, "ETag")),
		   text_of(wanted));
}

static int
finish(void *arg, const struct file_parts *parts, struct err *err)
{
	static const char *const headers[] = { "Content-Type: application/xml",
		NULL };
	struct target *target = arg;
	char query[3 * S3_ID_BYTES + 16];
	struct http_answer answer = { .status = 0 };
	struct err why = { 0 };
	size_t bytes;
	char *body = s3_whole_list(target->put, target->count, &bytes);
	int rc;

	(void)parts;
	snprintf(query, sizeof(query), "?uploadId=%s", target->id);
	rc = ask(target, "POST", target->path, query, headers,
	    (struct text){ body, (uint32_t)bytes }, &answer, &why);
	free(body);
	if (rc == 0)
		return check_whole(target, answer.body, err);
	if (answer.status == 404 && is_whole(target))
		return 0;
	return err_set(err, "%s", why.text);
}

static void
abort_upload(void *arg)
{
	struct target *target = arg;
	char query[3 * S3_ID_BYTES + 16];
	struct http_answer answer = { .status = 0 };
	struct err why = { 0 };

	if (target->id[0] == '\0')
		return;
	snprintf(query, sizeof(query), "?uploadId=%s", target->id);
	if (ask(target, "DELETE", target->path, query, no_headers, no_body,
		&answer, &why) != 0 &&
	    answer.status != 404)
		log_warn("%s: the uploaded parts remain on the service: %s",
		    target->name, why.text);
}

static bool
is_lost(const void *arg)
{
	return ((const struct target *)arg)->s3.lost;
}

static int
put_file(struct target *target, int fd, int64_t bytes, struct err *err)
{
	const struct file_put how = { target, target->name, put_whole, begin,
		put_part, finish, abort_upload, is_lost,
		http_is_dry(target->s3.http) };

	target->id[0] = '\0';
	target->count = 0;
	return file_put(&how, fd, bytes, err);
}

const struct target_type target_s3 = {
	.scheme = "s3",
	.rest = "BUCKET/KEY",
	.takes = TARGET_FILES,
	.check = check_name,
	.open = open_target,
	.close = close_target,
	.put_file = put_file,
};
