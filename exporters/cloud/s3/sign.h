/*
 * s3_sign - AWS Signature Version 4 for S3.
 *
 * AWS, "Authenticating Requests: Using the Authorization Header (AWS Signature
 * Version 4)", with the whole payload in one request.  All headers of the
 * request and the host are signed.  The path is signed as it is in the
 * address: the caller percent-encodes all but unreserved characters, once.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_S3_SIGN_H
#define EXPORTERS_CLOUD_S3_SIGN_H

#include "exporters/cloud/common/sign.h"

enum { SIGN_S3_HEADER_BYTES = 2048 };

struct sign_s3 {
	struct text id;     /* access key: 16 to 128 characters */
	struct text secret; /* of any length */
	const char *region; /* "us-east-1" */
};

/* Make "Authorization: AWS4-HMAC-SHA256 ..." for the request with its headers,
 * which include x-amz-date ("20130524T000000Z") and x-amz-content-sha256. */
int sign_s3(const struct sign_s3 *who, const struct http_request *request,
    char header[static SIGN_S3_HEADER_BYTES], struct err *err);

#endif
