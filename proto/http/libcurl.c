/*
 * libcurl - the functions of libcurl, loaded when the first address is parsed.
 * SPDX-License-Identifier: MIT
 */
#include "proto/http/libcurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#define SONAME "libcurl.so.4"

struct libcurl libcurl;

#define FUNCTION(name) { "curl_" #name, offsetof(struct libcurl, name) },
static const struct {
	const char *name;
	size_t at;
} functions[] = { LIBCURL_FUNCTIONS(FUNCTION) };
enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

static int
load(struct err *err)
{
	void *library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);

	if (library == NULL)
		return err_set(err,
		    "cannot load libcurl, which every request by HTTP needs "
		    "(Debian package libcurl4): %s",
		    dlerror());
	for (int i = 0; i < FUNCTIONS; i++) {
		void *function = dlsym(library, functions[i].name);

		if (function == NULL) {
			err_set(err,
			    "this " SONAME
			    " has no %s: libcurl 7.85 or later is required",
			    functions[i].name);
			dlclose(library);
			return -1;
		}
		/* POSIX guarantees that a function pointer fits a void
		 * pointer. */
		*(void **)((char *)&libcurl + functions[i].at) = function;
	}
	if (libcurl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return err_set(err, "cannot initialize libcurl");
	return 0;
}

int
libcurl_load(struct err *err)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static bool is_loaded;
	int rc;

	pthread_mutex_lock(&lock);
	rc = is_loaded ? 0 : load(err);
	is_loaded = rc == 0;
	pthread_mutex_unlock(&lock);
	return rc;
}
