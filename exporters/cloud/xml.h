/*
 * xml - parse the XML answers of storage services, and their errors.
 *
 * Documents with a document type are refused, so that no entities except those
 * of XML itself exist and a short text cannot expand into a long one.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_XML_H
#define EXPORTERS_CLOUD_XML_H

#include "proto/base/err.h"
#include "proto/base/text.h"
#include "proto/http/http.h"

enum {
	XML_DEPTH_MAX = 16,
	XML_PATH_BYTES = 256,
	XML_VALUE_BYTES_MAX = 4096, /* maximum bytes of an element's text */
};

/* Called at the end of an element, after its children.  `path` has the names
 * from the outermost on, separated by slashes ("ListPartsResult/Part/ETag");
 * `value` is its text, a view valid during the call.  -1 stops the parser. */
typedef int xml_element(
    void *arg, const char *path, struct text value, struct err *err);

/* Returns -1 if the text is not XML, exceeds the limits, or on_element
 * returned -1. */
int xml_read(
    struct text body, xml_element *on_element, void *arg, struct err *err);

/* Escape text for an element: & < > " ' become entities, NULs are dropped.
 * NUL-terminates; returns the length, or 0 if there is no room. */
size_t xml_escape(char *to, size_t room, struct text text);

/*
 * Parse error answers of storage services.
 *
 * Azure Blob and S3 send XML, Azure Table JSON, each with a code.
 */

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
