# deb - build the Debian packages in a copy of the sources, and run lintian.
#
#   sh deploy/deb.sh DIR        write them to DIR
#   VERSION=0.2 sh deploy/deb.sh DIR     a version other than that of proto/base/version.h
#   MAINTAINER='Ada <ada@pool.net>' sh deploy/deb.sh DIR
#   OBJECTS=build sh deploy/deb.sh DIR   compile only what make did not compile there
#
# The maintainer is whoever builds the packages: without MAINTAINER it is
# DEBFULLNAME with DEBEMAIL, else the user on this machine.
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
if [ -n "${OBJECTS:-}" ]; then
	# Not those that know where programs are installed (DATADIR).
	mkdir "$out/objects"
	(cd "$OBJECTS" && grep -rLZ --include='*.[od]' share/poolscope \
		agents aggregator broker deploy exporters pic proto) |
		tar -C "$OBJECTS" --null -T - -cf - | tar -xf - -C "$out/objects"
	OBJECTS=$(cd "$out/objects" && pwd)
	export OBJECTS
fi
cd "$out/poolscope"
named=1
if [ -z "${MAINTAINER:-}" ]; then
	[ -n "${DEBEMAIL:-}" ] || named=
	MAINTAINER="${DEBFULLNAME:-$(id -un)} <${DEBEMAIL:-$(id -un)@$(uname -n)}>"
fi
for each in control changelog; do
	MAINTAINER=$MAINTAINER awk '{
		at = index($0, "@MAINTAINER@")
		print at ? substr($0, 1, at - 1) ENVIRON["MAINTAINER"] substr($0, at + 12) : $0
	}' debian/$each >debian/$each.new && mv debian/$each.new debian/$each
done
# Packages and the programs in them show the same version.
version=proto/base/version.h
VERSION=${VERSION:-$(sed -n 's/^.define VERSION "\(.*\)"/\1/p' $version)}
sed -i "s/^\(.define VERSION\).*/\1 \"$VERSION\"/" $version
sed -i "1s/(.*)/($VERSION)/" debian/changelog
if ! DEB_BUILD_OPTIONS="parallel=$(nproc) ${DEB_BUILD_OPTIONS:-}" \
	dpkg-buildpackage -us -uc >../build.log 2>&1; then
	tail -n 30 ../build.log >&2
	exit 1
fi
cd ..
rm -rf poolscope objects
if command -v lintian >/dev/null; then
	# Errors and warnings, also of the source package.  The builder may be root,
	# and the machine may have no domain name.
	lintian --allow-root --fail-on error,warning ${named:---suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog,root-in-contact,malformed-contact} \
		./*.changes >lintian.log 2>&1 ||
		{ cat lintian.log >&2; exit 1; }
else
	echo "deb: lintian is not installed; the packages are not checked" >&2
fi
[ -n "$named" ] || echo "deb: the maintainer is $MAINTAINER; set MAINTAINER='NAME <ADDRESS>' to change it" >&2
ls ./*.deb
