/*
 * libcurl - the functions of libcurl, loaded when the first address is parsed.
 *
 * libcurl needs some thirty further libraries, so no program links it
 * (proto/os/library.h).  libcurl.easy_init() is curl_easy_init() of its manual,
 * with the types that its header declares; types of options are not checked.
 * SPDX-License-Identifier: MIT
 */
#ifndef PROTO_HTTP_LIBCURL_H
#define PROTO_HTTP_LIBCURL_H

#include <curl/curl.h>

#include "proto/base/err.h"

/* Of libcurl 7.85 and later. */
#define LIBCURL_FUNCTIONS(each)                                                \
	each(easy_cleanup) each(easy_getinfo) each(easy_header)                \
	    each(easy_init) each(easy_setopt) each(easy_strerror) each(free)   \
		each(global_init) each(multi_add_handle) each(multi_cleanup)   \
		    each(multi_info_read) each(multi_init) each(multi_perform) \
			each(multi_poll) each(multi_remove_handle)             \
			    each(multi_strerror) each(slist_append)            \
				each(slist_free_all) each(url)                 \
				    each(url_cleanup) each(url_get)            \
					each(url_set) each(url_strerror)

#define LIBCURL_POINTER(name) __typeof__(curl_##name) *name;
struct libcurl {
	LIBCURL_FUNCTIONS(LIBCURL_POINTER)
};
#undef LIBCURL_POINTER

/* Valid after libcurl_load has returned 0. */
extern struct libcurl libcurl;

/* Load and initialize it.  May be called any number of times, by any thread. */
int libcurl_load(struct err *err);

#endif
