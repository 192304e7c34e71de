#!/bin/sh
# demo - from a fresh Debian 12 to the first plots: install missing packages,
# build, and run the main job once.  Writes demo-out/.
set -eu
cd "$(dirname "$0")/.."
. deploy/packages.sh
need_packages build
echo "building (make; the log is build/demo-build.log)" >&2
mkdir -p build
make -j"$(nproc)" all >build/demo-build.log 2>&1 || {
	tail -n 20 build/demo-build.log >&2
	exit 1
}
exec build/bin/poolscope demo "$@"
