/*
 * xml - what services answer in XML, an element at a time.
 *
 * Documents without a type: no entities but those of XML itself, so that a
 * short text cannot become a long one.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_CLOUD_HTTP_XML_H
#define EXPORTERS_CLOUD_HTTP_XML_H

#include "proto/base/err.h"
#include "proto/base/text.h"

enum {
	XML_DEPTH_MAX = 16,
	XML_PATH_BYTES = 256,
	XML_VALUE_BYTES_MAX = 4096, /* of one element's own text */
};

/* An element has ended, after those in it.  `path` is of names from the
 * outermost on, with slashes between ("ListPartsResult/Part/ETag"); `value` is
 * its text, a view until the next one.  -1 ends the reading. */
typedef int xml_element(
    void *arg, const char *path, struct text value, struct err *err);

/* -1: it is not XML, or too deep or long for an answer, or on_element said
 * so. */
int xml_read(
    struct text body, xml_element *on_element, void *arg, struct err *err);

/* Without Azure's mark of UTF-8, the blanks with which S3 keeps a connection
 * alive before it answers, and those at the end; xml_read does it. */
struct text xml_trim(struct text body);

/* Text in an element: & < > " ' become entities, NULs are left out.  Returns
 * the length without the NUL behind it; 0: no room. */
size_t xml_escape(char *to, size_t room, struct text text);

#endif
