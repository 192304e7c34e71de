/*
 * service_error - what a storage service says when it will not.
 *
 * Azure Blob and S3 in XML, Azure Table in JSON, each with a code.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_HTTP_SERVICE_ERROR_H
#define EXPORTERS_CLOUD_HTTP_SERVICE_ERROR_H

#include "exporters/cloud/http/http.h"

struct service_error {
	char code[80];     /* "NoSuchBucket"; "" when there is none */
	char message[320]; /* its first line */
};

/* Read what there is of it. */
void service_error_read(struct service_error *service_error, struct text body);

/* "PLACE answers STATUS, CODE: MESSAGE" without what is secret in the request.
 * Returns -1. */
int service_error_set(const struct http_request *request,
    const struct http_answer *answer, struct err *err);

#endif
