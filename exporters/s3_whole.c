/*
 * s3_whole - what parts that were put become.
 * SPDX-License-Identifier: MIT
 */
#include "exporters/s3_whole.h"

#include <stdio.h>
#include <stdlib.h>

#include "exporters/xml.h"

char *
s3_whole_list(const struct s3_put *put, uint32_t count, size_t *bytes)
{
	size_t room = 64 + (size_t)count * (64 + 6 * S3_ETAG_BYTES), used;
	char *body = malloc(room), etag[6 * S3_ETAG_BYTES];

	if (body == NULL)
		abort(); /* out of memory */
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
