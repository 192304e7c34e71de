/*
 * web_tag - an ETag: equal for equal answers.
 *
 * Of a pool it is made from what the store says of the partition (its last
 * journal entry, how many records of each kind, their times) and from the
 * question, so that an answer need not be computed to see that it is known.
 * Answers that age with the clock have another one each second.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_WEB_TAG_H
#define EXPORTERS_WEB_TAG_H

#include "exporters/web/answers.h"

enum { WEB_TAG_BYTES = 40 }; /* with quotes and NUL */

/* Of a question about a pool; -1: the source did not answer. */
int web_tag_of_pool(char to[static WEB_TAG_BYTES], struct source *source,
    const struct web_question *question, const struct web_url *url,
    struct err *err);
/* Of the bytes of an answer. */
void web_tag_of_bytes(
    char to[static WEB_TAG_BYTES], const void *at, size_t bytes);

/* Does the header If-None-Match, or NULL, name the tag? */
bool web_tag_is_in(const char *tag, const char *none_match);

#endif
