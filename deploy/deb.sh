# deb - builds the Debian packages in a copy of the sources, and asks lintian.
#
#   sh deploy/deb.sh DIR        leaves them in DIR
#   VERSION=0.2 sh deploy/deb.sh DIR
#
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
set -eu
cd "$(dirname "$0")/.."
out=$1
rm -rf "$out"
mkdir -p "$out/poolscope"
{ git ls-files -z --cached --others --exclude-standard 2>/dev/null ||
	find . -name build -prune -o -type f -print0; } |
	tar --null --ignore-failed-read -T - -cf - 2>/dev/null | tar -xf - -C "$out/poolscope"
cp -R deploy/debian "$out/poolscope/debian"
cd "$out/poolscope"
[ -z "${VERSION:-}" ] || sed -i "1s/(.*)/($VERSION)/" debian/changelog
if ! DEB_BUILD_OPTIONS="parallel=$(nproc) ${DEB_BUILD_OPTIONS:-}" \
	dpkg-buildpackage -b -us -uc >../build.log 2>&1; then
	tail -n 30 ../build.log >&2
	exit 1
fi
cd ..
rm -rf poolscope
if command -v lintian >/dev/null; then
	# Errors and warnings; whoever built it may be root.
	lintian --allow-root --fail-on error,warning ./*.changes >lintian.log 2>&1 ||
		{ cat lintian.log >&2; exit 1; }
else
	echo "deb: lintian is not installed, nobody looked at the packages" >&2
fi
ls ./*.deb
