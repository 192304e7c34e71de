/*
 * libzmq - the functions of libzmq, loaded when the first socket is needed.
 * SPDX-License-Identifier: MIT
 */
#include "proto/net/libzmq.h"

#include "proto/net/guard/guard.h"
#include "proto/os/library.h"

struct libzmq libzmq;

#define FUNCTION(name) { "zmq_" #name, &libzmq.name },
static const struct library_function functions[] = { LIBZMQ_FUNCTIONS(FUNCTION){
    0 } };

static int
begin(void *handle, struct err *err)
{
	(void)err;
	guard_begin(handle);
	return 0;
}

static struct library library = { "libzmq.so.5",
	"every endpoint needs (Debian package libzmq5)", "4.2", functions,
	begin, false };

int
libzmq_load(struct err *err)
{
	guard_check();
	return library_load(&library, err);
}
