# hardened - release programs and the library have the hardening of the Makefile:
# position independent code, read-only relocations before main, no executable
# stack, stack guards, the checked functions of libc, and tracking of indirect
# branches where the processor supports it.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
set -eu
cd "$(dirname "$0")/../.."
command -v readelf >/dev/null || { echo "SKIPPED hardened: no readelf"; exit 0; }
status=0

wrong() {
	echo "$file: $*"
	status=1
}

for file in build/bin/poolscope-* build/libpoolscope.so; do
	# Only another variant was built.
	[ -e "$file" ] || continue
	# Some programs are scripts.
	case $(head -c 2 "$file") in "#!") continue ;; esac
	head=$(readelf -hW "$file")
	segments=$(readelf -lW "$file")
	dynamic=$(readelf -dW "$file")
	symbols=$(readelf -W --dyn-syms "$file")
	case $head in *"Type: "*DYN*) ;; *) wrong "is not position independent" ;; esac
	case $file:$dynamic in
	*.so:* | *FLAGS_1*PIE*) ;;
	*) wrong "is a library, not a position independent program" ;;
	esac
	case $segments in *GNU_RELRO*) ;; *) wrong "has no read-only relocations" ;; esac
	case $dynamic in *BIND_NOW* | *FLAGS_1*NOW*) ;; *) wrong "binds functions late" ;; esac
	case $dynamic in *TEXTREL*) wrong "relocates its code" ;; esac
	case $dynamic in *RPATH* | *RUNPATH*) wrong "has a library path of its own" ;; esac
	echo "$segments" | grep -q 'GNU_STACK.* RW ' || wrong "has an executable stack"
	echo "$segments" | grep -q 'LOAD.* RWE ' && wrong "has memory to write and execute"
	case $symbols in *__stack_chk_fail*) ;; *) wrong "has no stack guards" ;; esac
	echo "$symbols" | grep -q '_chk@\|_chk ' || wrong "does not use the checked functions of libc"
done
# Debian's start files do not track them, so whole programs are never marked.
for file in build/proto/*/*.o build/pic/agents/*/*.o; do
	if [ "$(uname -m)" != x86_64 ] || [ ! -e "$file" ]; then continue; fi
	case $(readelf -nW "$file") in *IBT*SHSTK*) ;; *) wrong "does not track indirect branches" ;; esac
done
exit $status
