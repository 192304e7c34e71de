/*
 * library - a shared library that is loaded when it is first needed.
 * SPDX-License-Identifier: MIT
 */
#include "proto/os/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int
load(const struct library *library, struct err *err)
{
	const int name_bytes = (int)strcspn(library->soname, ".");
	void *handle = dlopen(library->soname, RTLD_NOW | RTLD_LOCAL);

	if (handle == NULL)
		return err_set(err, "cannot load %.*s, which %s: %s",
		    name_bytes, library->soname, library->need, dlerror());
	for (const struct library_function *f = library->functions;
	     f->name != NULL; f++) {
		/* POSIX: a function pointer fits a void pointer. */
		*(void **)f->pointer = dlsym(handle, f->name);
		if (*(void **)f->pointer != NULL)
			continue;
		dlclose(handle);
		return err_set(err,
		    "this %s has no %s: %.*s %s or later is required",
		    library->soname, f->name, name_bytes, library->soname,
		    library->version);
	}
	return library->begin(handle, err);
}

int
library_load(struct library *library, struct err *err)
{
	int rc;

	pthread_mutex_lock(&lock);
	rc = library->is_loaded ? 0 : load(library, err);
	library->is_loaded = rc == 0;
	pthread_mutex_unlock(&lock);
	return rc;
}
