/*
 * s3_sign - who asks S3: Signature Version 4 of AWS.
 *
 * AWS, "Authenticating Requests: Using the Authorization Header (AWS Signature
 * Version 4)", of one whole payload.  Every header of the request is signed,
 * and the host.  Paths are signed as they are in the address: whoever makes it
 * percent-encodes all but unreserved characters, once.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_S3_SIGN_H
#define EXPORTERS_CLOUD_S3_SIGN_H

#include "exporters/cloud/http/sign.h"

enum { SIGN_S3_HEADER_BYTES = 2048 };

struct sign_s3 {
	struct text id;     /* the access key; 16 to 128 characters */
	struct text secret; /* of any length */
	const char *region; /* "us-east-1" */
};

/* "Authorization: AWS4-HMAC-SHA256 ..." for the request with the headers that
 * it has, x-amz-date ("20130524T000000Z") and x-amz-content-sha256 among
 * them. */
int sign_s3(const struct sign_s3 *who, const struct http_request *request,
    char header[static SIGN_S3_HEADER_BYTES], struct err *err);

#endif
