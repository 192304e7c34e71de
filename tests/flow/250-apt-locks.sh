# Packages are installed although another apt is at work: the locks of the package
# lists and of downloads are waited for, other errors are not.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # for another shell
. "$(dirname "$0")/lib.sh"

# An apt-get that works on directories of its own, and a package that is not there.
real=$(command -v apt-get) || { echo "SKIPPED - no apt-get"; exit 0; }
mkdir -p "$TMP/bin" "$TMP/lists/partial" "$TMP/archives/partial"
cat >"$TMP/bin/apt-get" <<END
#!/bin/sh
echo "\$*" >>"$TMP/called"
case " \$* " in *" install "*) set -- "\$@" --download-only --reinstall ;; esac
exec "$real" -o Dir::State::lists="$TMP/lists" -o Dir::Cache::archives="$TMP/archives" \\
	-o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts=/dev/null "\$@"
END
cat >"$TMP/bin/dpkg-query" <<END
#!/bin/sh
exit 1
END
printf '#!/bin/sh\necho 0\n' >"$TMP/bin/id"
chmod +x "$TMP/bin/apt-get" "$TMP/bin/dpkg-query" "$TMP/bin/id"
cat >"$TMP/hold.py" <<'END'
import fcntl, os, sys
file = open(sys.argv[1], "a+")
fcntl.lockf(file, fcntl.LOCK_EX)
open(sys.argv[2], "w").close()
os.read(os.open(sys.argv[3], os.O_RDONLY), 1)  # until somebody has opened it
END

need() {
	env PATH="$TMP/bin:$PATH" sh -c '. "$ROOT/deploy/packages.sh"; packages_build=$0; need_packages build' \
		"$1" >"$TMP/printed" 2>&1
}

# installs LOCK: while another process holds the lock; it goes when apt-get has failed
# to get it.  Prints what need_packages says.
installs() {
	rm -f "$TMP/held" "$TMP/go" "$TMP/called" && mkfifo "$TMP/go"
	python3 "$TMP/hold.py" "$1" "$TMP/held" "$TMP/go" &
	wait_until '[ -e "$TMP/held" ]' || return 1
	need dash &
	wait_until 'grep -q "waiting for another apt-get" "$TMP/printed"' 30
	waited=$?
	echo go >"$TMP/go"
	wait $!
	return $waited
}
check "the lock of the package lists is waited for" installs "$TMP/lists/lock"
check_text "... and one line reports it" 1 "$(grep -c waiting "$TMP/printed")"
check "... and the lists are read afterwards" sh -c '! grep -q "update failed" "$0"' "$TMP/printed"
check "the lock of downloads is waited for" installs "$TMP/archives/lock"
check "locks of dpkg are waited for by apt-get" grep -q -e "DPkg::Lock::Timeout=[1-9]" "$TMP/called"

# Any other failure ends at once, with the report of apt-get.
need no-such-package-anywhere
check_text "a package that does not exist is an error" 1 $?
check "... as apt-get reports it" grep -q "Unable to locate package no-such-package-anywhere" "$TMP/printed"
check "... without a wait" sh -c '! grep -q waiting "$0"' "$TMP/printed"
