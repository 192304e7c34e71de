#!/bin/sh
# A thread without which a daemon is of no use ends it, and the log says which
# and why: a listener whose address is lost when its key changes.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # conditions are for wait_until
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/lib.sh"

INGEST=25770
QUERY=25771

# bind() fails for the port in the file $LOST, once that is there.
cat >"$TMP/bind.c" <<'END'
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int
bind(int fd, const struct sockaddr *to, socklen_t bytes)
{
	int (*real)(int, const struct sockaddr *, socklen_t) =
	    dlsym(RTLD_NEXT, "bind");

	if (to->sa_family == AF_INET && access(getenv("LOST"), F_OK) == 0 &&
	    ntohs(((const struct sockaddr_in *)to)->sin_port) ==
		atoi(getenv("LOST_PORT"))) {
		errno = EACCES;
		return -1;
	}
	return real(fd, to, bytes);
}
END
check "a bind of our own is made" cc -shared -fPIC -o "$TMP/bind.so" "$TMP/bind.c" -ldl
check "a server's key is made" poolscope-keys new server --role server
check "another one is made" poolscope-keys --dir "$TMP/other" new server --role server

# aggregator PORT: of which bind() is about to fail.
aggregator() {
	rm -f "$TMP/lost"
	# The address sanitizer wants to be loaded first, but can be talked to.
	LD_PRELOAD=$TMP/bind.so LOST=$TMP/lost LOST_PORT=$1 \
		ASAN_OPTIONS=${ASAN_OPTIONS:-}:verify_asan_link_order=0 \
		start aggregator poolscope-aggregator \
		--listen "ipc://$DIR/run/intake.ipc" --listen "tcp://127.0.0.1:$INGEST" \
		--reader "ipc://$DIR/run/reader.ipc" --reader "tcp://127.0.0.1:$QUERY"
}
other_key() {
	cat "$DIR/keys/server.key" >"$TMP/was" &&
		cat "$TMP/other/keys/server.key" >"$DIR/keys/server.key" &&
		cat "$TMP/was" >"$TMP/other/keys/server.key" &&
		kill -HUP "$(pid aggregator)"
}

check "an aggregator with TCP listeners" aggregator "$QUERY"
check "its server's key changes" other_key
check "... which it takes over" wait_until 'grep -q "configuration reloaded" "$TMP/aggregator.log"'
check "readers are answered" poolscope-stats status
touch "$TMP/lost"
check "the key changes while the readers' address is lost" other_key
check "the aggregator ends by itself" wait_until '! alive aggregator'
stop aggregator
check_text "... as one that failed" 1 "$STATUS"
check "... and says which thread did" \
	grep -q "the query server: tcp://127.0.0.1:$QUERY: Permission denied; exiting" "$TMP/aggregator.log"

: >"$TMP/aggregator.log"
check "an aggregator again" aggregator "$INGEST"
check "the store is as it was" poolscope-stats status
touch "$TMP/lost"
check "the key changes while the agents' address is lost" other_key
check "the aggregator ends by itself" wait_until '! alive aggregator'
stop aggregator
check_text "... as one that failed" 1 "$STATUS"
check "... and says why" \
	grep -q "tcp://127.0.0.1:$INGEST: Permission denied" "$TMP/aggregator.log"
