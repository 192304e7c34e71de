/*
 * s3_reply - whatever S3 answers is read, or refused with a reason.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/cloud/s3.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct s3_parts parts;
	struct text body = { (const char *)data, (uint32_t)size };
	struct s3_uploads uploads = { .key = "k" };
	char id[S3_ID_BYTES], etag[128];
	unsigned char md5[MD5_BYTES];
	struct err err = { 0 };

	if (s3_read_uploads(&uploads, body, &err) != 0)
		assert(err.text[0] != '\0');
	assert(strlen(uploads.id) < S3_ID_BYTES);
	err.text[0] = '\0';
	parts.next = 0;
	if (s3_read_parts(&parts, body, &err) != 0)
		assert(err.text[0] != '\0');
	else
		assert(!parts.more || parts.next > 0);
	if (s3_read_id(id, body, &err) == 0)
		assert(id[0] != '\0');
	if (s3_read_whole(etag, body, &err) == 0)
		s3_etag_md5(text_of(etag), md5);
	return 0;
}
