/*
 * service_error - parse error answers of storage services.
 *
 * Azure Blob and S3 send XML, Azure Table JSON, each with a code.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_COMMON_SERVICE_ERROR_H
#define EXPORTERS_CLOUD_COMMON_SERVICE_ERROR_H

#include "proto/http/http.h"

struct service_error {
	char code[80];     /* "NoSuchBucket"; "" if absent */
	char message[320]; /* first line of the message */
};

/* Parse as much of the body as is understood. */
void service_error_read(struct service_error *service_error, struct text body);

/* Set `err` to "PLACE answers STATUS, CODE: MESSAGE" without secrets of the
 * request.  Returns -1. */
int service_error_set(const struct http_request *request,
    const struct http_answer *answer, struct err *err);

#endif
