/*
 * xml - parse XML answers, one element at a time.
 *
 * Documents with a document type are refused, so that no entities except those
 * of XML itself exist and a short text cannot expand into a long one.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_COMMON_XML_H
#define EXPORTERS_CLOUD_COMMON_XML_H

#include "proto/base/err.h"
#include "proto/base/text.h"

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

/* Remove Azure's byte order mark, the blanks with which S3 keeps a connection
 * alive before it answers, and trailing blanks.  xml_read does this itself. */
struct text xml_trim(struct text body);

/* Escape text for an element: & < > " ' become entities, NULs are dropped.
 * NUL-terminates; returns the length, or 0 if there is no room. */
size_t xml_escape(char *to, size_t room, struct text text);

#endif
