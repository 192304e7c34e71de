/*
 * libzmq - the functions of libzmq, loaded when the first socket is needed.
 * SPDX-License-Identifier: MIT
 */
#include "proto/net/libzmq.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "proto/net/guard/guard.h"

#define SONAME "libzmq.so.5"

struct libzmq libzmq;

#define FUNCTION(name) { "zmq_" #name, offsetof(struct libzmq, name) },
static const struct {
	const char *name;
	size_t at;
} functions[] = { LIBZMQ_FUNCTIONS(FUNCTION) };
enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

static int
load(struct err *err)
{
	void *library;

	guard_check();
	library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		return err_set(err,
		    "cannot load libzmq, which every endpoint needs (Debian "
		    "package libzmq5): %s",
		    dlerror());
	guard_begin(library);
	for (int i = 0; i < FUNCTIONS; i++) {
		void *function = dlsym(library, functions[i].name);

		if (function == NULL) {
			err_set(err,
			    "this " SONAME
			    " has no %s: libzmq 4.2 or later is required",
			    functions[i].name);
			dlclose(library);
			return -1;
		}
		/* POSIX guarantees that a function pointer fits a void
		 * pointer. */
		*(void **)((char *)&libzmq + functions[i].at) = function;
	}
	return 0;
}

int
libzmq_load(struct err *err)
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
