/*
 * libcurl - the functions of libcurl, loaded when the first address is parsed.
 * SPDX-License-Identifier: MIT
 */
#include "proto/http/libcurl.h"

#include "proto/os/library.h"

struct libcurl libcurl;

#define FUNCTION(name) { "curl_" #name, &libcurl.name },
static const struct library_function functions[] = { LIBCURL_FUNCTIONS(
    FUNCTION){ 0 } };

static int
begin(void *handle, struct err *err)
{
	(void)handle;
	return libcurl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK
		   ? 0
		   : err_set(err, "cannot initialize libcurl");
}

static struct library library = { "libcurl.so.4",
	"every request by HTTP needs (Debian package libcurl4)", "7.85",
	functions, begin, false };

int
libcurl_load(struct err *err)
{
	return library_load(&library, err);
}
