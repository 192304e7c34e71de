/*
 * target_azure_blob - upload a file as a block blob of Azure Storage.
 *
 * The service verifies each block by its MD5.  Blocks of an interrupted
 * attempt are found by their ids and not sent again; the service deletes
 * uncommitted blocks after a week.
 * SPDX-License-Identifier: MIT
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exporters/cloud/azure_account.h"
#include "exporters/cloud/file_put.h"
#include "exporters/upload/targets/target.h"
#include "proto/base/memory.h"
#include "proto/base/number.h"

enum { NAME_BYTES = 1024, PATH_BYTES = 3 * NAME_BYTES + 80 };

struct block_id {
	char text[AZURE_BLOCK_ID_BYTES];
};

struct target {
	struct azure azure;
	char name[NAME_BYTES + 80]; /* "azure-blob:..." */
	char path[PATH_BYTES];
	const char *type;
	bool lost;
	struct azure_blocks there;
	struct block_id *ids; /* in the order of the file */
	uint32_t count, room;
};

/* CONTAINER/NAME */
static int
check_name(const char *rest, struct err *err)
{
	const char *slash = strchr(rest, '/');
	size_t bytes = slash != NULL ? (size_t)(slash - rest) : 0;

	if (slash == NULL)
		return err_set(
		    err, "azure-blob:CONTAINER/NAME: the name is missing");
	if (bytes < 3 || bytes > 63 ||
	    strspn(rest, "abcdefghijklmnopqrstuvwxyz0123456789-$") < bytes)
		return err_set(err, "azure-blob:CONTAINER/NAME: the container "
				    "is not 3 to 63 lower-case letters, digits "
				    "and hyphens");
	if (slash[1] == '\0' || strlen(slash + 1) > NAME_BYTES)
		return err_set(err,
		    "azure-blob:CONTAINER/NAME: the name is not 1 to %d bytes",
		    NAME_BYTES);
	return 0;
}

static int
take_name(struct target *target, const char *rest, struct err *err)
{
	const char *slash = strchr(rest, '/');
	size_t used;

	if (check_name(rest, err) != 0)
		return -1;
	used = (size_t)snprintf(target->path, sizeof(target->path), "/%.*s/",
	    (int)(slash - rest), rest);
	if (http_encode(target->path + used, sizeof(target->path) - used,
		text_of(slash + 1), "/") == 0)
		return err_set(err, "the name of the blob is too long");
	snprintf(target->name, sizeof(target->name), "azure-blob:%s", rest);
	target->type = content_type(rest);
	return 0;
}

static void
close_target(struct target **to)
{
	struct target *target = *to;

	if (target == NULL)
		return;
	azure_close(&target->azure);
	azure_blocks_clear(&target->there);
	free(target->ids);
	free(target);
	*to = NULL;
}

static int
open_target(struct target **to, const char *rest,
    const struct http_options *how, struct err *err)
{
	struct target *target = memory_zero(1, sizeof(*target));

	if (take_name(target, rest, err) != 0 ||
	    azure_open(&target->azure, SIGN_AZURE_BLOB, how, err) != 0) {
		close_target(&target);
		return -1;
	}
	*to = target;
	return 0;
}

static int
send(struct target *target, const char *method, const char *query,
    const char *const *headers, struct text body, struct http_answer *answer,
    struct err *err)
{
	char path[PATH_BYTES + 256];

	snprintf(path, sizeof(path), "%s%s", target->path, query);
	target->lost = azure_send(&target->azure, method, path, headers, body,
			   answer, err) != 0;
	return target->lost ? -1 : 0;
}

/* The service confirms what it stored with 201. */
static int
check_created(const struct target *target, const struct http_answer *answer,
    struct err *err)
{
	if (answer->status == 201 || http_is_dry(target->azure.http))
		return 0;
	return answer->status < 300
		   ? http_unconfirmed(target->azure.http, answer, err)
		   : azure_refused(&target->azure, answer, err);
}

/* The upload succeeded if the checksum in the answer, if any, matches. */
static int
put(struct target *target, const char *query, const char *const *headers,
    struct text body, const char *md5, struct err *err)
{
	struct http_answer answer;
	struct text back;

	if (send(target, "PUT", query, headers, body, &answer, err) != 0)
		return -1;
	if (check_created(target, &answer, err) != 0)
		return -1;
	back = http_header(target->azure.http, "Content-MD5");
	if (back.bytes > 0 && !text_equal(back, text_of(md5)))
		return err_set(err,
		    "checksum mismatch: the service received different bytes");
	return 0;
}

static int
put_whole(void *arg, const struct file_part *part, struct err *err)
{
	struct target *target = arg;
	char md5[MD5_BASE64_BYTES], sum[64], type[128];
	const char *const headers[] = { "x-ms-blob-type: BlockBlob", type, sum,
		NULL };

	md5_base64(md5, part->md5);
	snprintf(type, sizeof(type), "Content-Type: %s", target->type);
	snprintf(sum, sizeof(sum), "Content-MD5: %s", md5);
	return put(target, "", headers, part->body, md5, err);
}

/* A token without read permission gets no list of blocks: send all of them. */
static int
begin(void *arg, struct err *err)
{
	static const char *const none[] = { NULL };
	struct target *target = arg;
	struct http_answer answer;

	if (http_is_dry(target->azure.http))
		return 0;
	if (send(target, "GET", "?comp=blocklist&blocklisttype=all", none,
		(struct text){ NULL, 0 }, &answer, err) != 0)
		return -1;
	if (answer.status >= 400)
		return 0; /* no such blob yet, or a later request reports the
			     error */
	if (answer.status != 200)
		return azure_refused(&target->azure, &answer, err);
	return azure_blocks_read(&target->there, answer.body, err);
}

static int
put_part(void *arg, const struct file_part *part, bool *there, struct err *err)
{
	struct target *target = arg;
	char md5[MD5_BASE64_BYTES], sum[64], query[200];
	char encoded[3 * AZURE_BLOCK_ID_BYTES + 1];
	const char *const headers[] = { sum, NULL };
	struct block_id *id;

	id = MEMORY_ADD(target->ids, target->room, target->count);
	azure_block_id(id->text, part->number, part->body);
	*there = azure_blocks_have(&target->there, id->text, part->body.bytes);
	if (*there)
		return 0;
	http_encode(encoded, sizeof(encoded), text_of(id->text), "");
	snprintf(query, sizeof(query), "?comp=block&blockid=%s", encoded);
	md5_base64(md5, part->md5);
	snprintf(sum, sizeof(sum), "Content-MD5: %s", md5);
	return put(target, query, headers, part->body, md5, err);
}

static int
commit(struct target *target, const struct file_parts *parts, struct err *err)
{
	size_t bytes = 64 + (size_t)target->count * 64;
	char md5[MD5_BASE64_BYTES], sum[64], type[128];
	const char *const headers[] = { type, sum,
		"Content-Type: application/xml", NULL };
	struct http_answer answer;
	char *body = memory_alloc(bytes);
	size_t used;
	int rc;

	used = (size_t)sprintf(body, "<?xml version=\"1.0\"?><BlockList>");
	for (uint32_t i = 0; i < target->count; i++)
		used += (size_t)snprintf(body + used, bytes - used,
		    "<Latest>%s</Latest>", target->ids[i].text);
	used += (size_t)snprintf(body + used, bytes - used, "</BlockList>");
	md5_base64(md5, parts->md5);
	snprintf(
	    type, sizeof(type), "x-ms-blob-content-type: %s", target->type);
	snprintf(sum, sizeof(sum), "x-ms-blob-content-md5: %s", md5);
	rc = send(target, "PUT", "?comp=blocklist", headers,
	    (struct text){ body, (uint32_t)used }, &answer, err);
	if (rc == 0)
		rc = check_created(target, &answer, err);
	free(body);
	return rc;
}

static int
finish(void *arg, const struct file_parts *parts, struct err *err)
{
	static const char *const none[] = { NULL };
	struct target *target = arg;
	struct http_answer answer;
	char md5[MD5_BASE64_BYTES];
	uint64_t bytes = 0;

	if (commit(target, parts, err) != 0)
		return -1;
	if (http_is_dry(target->azure.http))
		return 0;
	if (send(target, "HEAD", "", none, (struct text){ NULL, 0 }, &answer,
		err) != 0)
		return -1;
	if (answer.status == 403)
		return 0; /* the token has write but no read permission */
	if (answer.status != 200)
		return azure_refused(&target->azure, &answer, err);
	md5_base64(md5, parts->md5);
	if (number_parse_u64(http_header(target->azure.http, "Content-Length"),
		&bytes, NULL) != 0 ||
	    bytes != parts->done ||
	    !text_equal(
		http_header(target->azure.http, "Content-MD5"), text_of(md5)))
		return err_set(err,
		    "verification failed: the stored blob has %" PRIu64
		    " bytes, not %" PRIu64,
		    bytes, parts->done);
	return 0;
}

static bool
is_lost(const void *arg)
{
	return ((const struct target *)arg)->lost;
}

static int
put_file(struct target *target, int fd, int64_t bytes, struct err *err)
{
	const struct file_put how = { target, target->name, put_whole, begin,
		put_part, finish, NULL, is_lost,
		http_is_dry(target->azure.http) };

	target->count = 0;
	return file_put(&how, fd, bytes, err);
}

const struct target_type target_azure_blob = {
	.scheme = "azure-blob",
	.rest = "CONTAINER/NAME",
	.takes = TARGET_FILES,
	.check = check_name,
	.open = open_target,
	.close = close_target,
	.put_file = put_file,
};
