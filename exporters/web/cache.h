/*
 * web_cache - answers that may be asked for again, by their tag; what a tag is
 * made from.
 *
 * What was not asked for longest is dropped when the bound is reached.  Any
 * thread may use it.
 * SPDX-License-Identifier: MIT
 */
#ifndef EXPORTERS_WEB_CACHE_H
#define EXPORTERS_WEB_CACHE_H

#include <stdint.h>

#include "exporters/web/answers.h"
#include "exporters/web/body.h"

struct web_cache; /* opaque */

enum { WEB_CACHE_ENTRIES_MAX = 512 };

struct web_cache *web_cache_new(uint64_t bytes_max);
void web_cache_free(struct web_cache **cache);

/* A body, which the caller drops; NULL: it is not there. */
struct web_body *web_cache_get(struct web_cache *cache, const char *tag);
/* Keep the body, too, if it takes at most a quarter of the bound. */
void web_cache_put(
    struct web_cache *cache, const char *tag, struct web_body *body);

/*
 * An ETag: equal for equal answers.
 *
 * Of a pool it is made from what the store says of the partition (its last
 * journal entry, how many records of each kind, their times) and from the
 * question, so that an answer need not be computed to see that it is known.
 * Answers that age with the clock have another one each second.
 */

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
