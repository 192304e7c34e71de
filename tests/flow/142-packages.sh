# The Debian packages: built, without a word from lintian, installed, upgraded
# and purged in a bare system of their own.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016,SC2153 # dollars are parts of names and for sh -c; lib.sh has ROOT
. "$(dirname "$0")/lib.sh"

if [ "${VARIANT:-release}" != release ]; then
	echo "SKIPPED packages: they are those of release"
	exit 0
fi
for need in debootstrap dpkg-buildpackage dh lintian; do
	command -v $need >/dev/null || { echo "SKIPPED packages: no $need"; exit 0; }
done

check "packages are built and lintian has nothing to say" env \
	DEB_BUILD_OPTIONS=noautodbgsym OBJECTS="$B" make -s deb || exit 1
packages="libpoolscope-dev libpoolscope0 poolscope-agent poolscope-exporters poolscope-server python3-poolscope"
check_text "these are they" "$packages" \
	"$(cd build/deb && printf '%s\n' ./*.deb | sed 's|./||; s/_.*//' | xargs)"

# ---- the client library, as somebody else's program has it
mkdir "$TMP/dev"
for package in libpoolscope0 libpoolscope-dev; do
	dpkg-deb -x build/deb/"${package}"_*.deb "$TMP/dev"
done
check "a program is built with what pkg-config says" sh -c '
	export PKG_CONFIG_SYSROOT_DIR="$TMP/dev" PKG_CONFIG_LIBDIR="$(echo "$TMP"/dev/usr/lib/*/pkgconfig)"
	cc -o "$TMP/client" tests/flow/client.c $(pkg-config --cflags --libs poolscope)'
check "... and finds the library of its soname" sh -c \
	'readelf -d "$TMP/client" | grep -q "NEEDED.*libpoolscope.so.0"'

# ---- a bare system; made once, with what the packages depend on
root=$TMP/root
depends=$(for deb in build/deb/*.deb; do dpkg-deb -f "$deb" Depends; done |
	tr ',' '\n' | sed 's/[(|].*//; s/ //g' | grep -v '^libpoolscope\|^poolscope' | sort -u | xargs)
base=build/chroot-$(printf '%s' "$depends" | cksum | cut -d ' ' -f 1).tar
if [ "$(id -u)" -ne 0 ] || ! chroot / true 2>/dev/null; then
	echo "SKIPPED packages in a bare system: only root can make one"
	exit 0
fi
if [ ! -s "$base" ]; then
	mkdir -p "$root"
	# shellcheck disable=SC2086 # a list of words
	if debootstrap --variant=minbase bookworm "$root" >"$TMP/bootstrap.log" 2>&1 &&
		chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
			--no-install-recommends $depends >>"$TMP/bootstrap.log" 2>&1; then
		chroot "$root" apt-get clean
		tar -C "$root" --one-file-system -cf "$base.new" . && mv "$base.new" "$base"
	else
		tail -n 5 "$TMP/bootstrap.log"
		echo "SKIPPED packages in a bare system: debootstrap does not get one"
		exit 0
	fi
else
	mkdir -p "$root" && tar -C "$root" -xf "$base"
fi

# With a /proc that is gone with the process.
cat >"$TMP/inside" <<'END'
#!/bin/sh
exec unshare -m sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" env -i \
	PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"' \
	"$TMP/root" "$@"
END
chmod +x "$TMP/inside"
inside() {
	"$TMP/inside" "$@"
}
# What packages leave, without what dpkg, apt and systemd keep for themselves.
files() {
	(cd "$root" && find . -xdev \( -path ./proc -o -path ./var/lib/dpkg -o -path ./var/log \
		-o -path ./var/cache -o -path ./tmp -o -path ./root \
		-o -path ./var/lib/systemd/deb-systemd-helper-enabled \) -prune -o -print | sort)
}
files >"$TMP/before"
cp build/deb/*.deb "$root/tmp"
check "they install" inside sh -c 'dpkg -i /tmp/*.deb'
check "the programs run" inside sh -c 'for p in /usr/bin/poolscope*; do "$p" --help || exit 1; done'
check "their libraries are there" inside sh -c '! ldd /usr/bin/poolscope-* | grep "not found"'
check "users are made" inside sh -c 'id poolscope && id poolscope-agent && id poolscope-receiver'
check_text "each has its directories" \
	"run 711 poolscope:poolscope agent 710 poolscope-agent:poolscope receiver 710 poolscope-receiver:poolscope metrics.d 755 root:root store 700 poolscope:poolscope spool 700 poolscope-agent:poolscope fallback 711 poolscope-agent:poolscope fallback/new 3777 poolscope-agent:poolscope-agent keys 711 poolscope:poolscope" \
	"$(for d in run agent receiver metrics.d store spool fallback fallback/new keys; do
		inside stat -c "$d %a %U:%G" "/var/lib/poolscope/$d"
	done | xargs)"
check "the program that a reload needs is there" inside sh -c \
	'for p in $(sed -n "s/^ExecReload=\([^ ]*\).*/\1/p" /lib/systemd/system/poolscope-*.service); do test -x "$p" || exit 1; done'
check "the example for nginx is there" inside test -s /usr/share/doc/poolscope-exporters/examples/poolscope.conf
check_status 1 "root's up on such a host makes nothing" inside poolscope up --agent
check_printed "... and says why" "/var/lib/poolscope/.* belongs to user poolscope.*: start it as that user, or the services"
check_text "... in no directory" "" "$(find "$root"/var/lib/poolscope/*/ -mindepth 1 -user root ! -name agent.sock ! -name statsd.sock)"
check "services are enabled" inside sh -c 'for u in agent broker aggregator; do
	test -L /etc/systemd/system/multi-user.target.wants/poolscope-$u.service || exit 1; done'
check "the example configuration is one that programs take" inside sh -c \
	'poolscope-agent --dir /var/lib/poolscope --version && ls /etc/poolscope/conf.d | xargs | grep -x "agent.conf aggregator.conf broker.conf receiver.conf"'
check "every program has its page" inside sh -c 'cd /usr/bin && for p in poolscope*; do
	ls /usr/share/man/man[18]/$p.[18].gz || exit 1; done'
check "... and completion" inside sh -c 'cd /usr/share/bash-completion/completions && ls poolscope poolscope-agent poolscope-dump'

# ---- they work, each as its user
up() {
	rm -f "$root/tmp/ready"
	mkfifo -m 0622 "$root/tmp/ready"
	# With the user, the group and the options of its unit.
	"$TMP/inside" setpriv --reuid "$1" \
		--regid "$(sed -n 's/^Group=//p' "$ROOT/deploy/systemd/poolscope-$2.service")" --init-groups sh -c \
		'exec $0 --ready-fd 3 3>/tmp/ready' "$(sed -n 's/^ExecStart=//p' "$ROOT/deploy/systemd/poolscope-$2.service")" \
		>"$TMP/$2.log" 2>&1 </dev/null &
	echo $! >"$TMP/$2.pid"
	case " $STARTED " in *" $2 "*) ;; *) STARTED="$STARTED $2" ;; esac
	[ "$(timeout $((30 * SLOW)) sh -c 'IFS= read -r l && echo ready' <"$root/tmp/ready")" = ready ]
}
check "the aggregator works" up poolscope aggregator
check "the broker works" up poolscope broker
check "the agent works" up poolscope-agent agent
check "the receiver works" up poolscope-receiver receiver
inside sh -c 'echo packaged 17 >/var/lib/poolscope/metrics.d/x.new && mv /var/lib/poolscope/metrics.d/x.new /var/lib/poolscope/metrics.d/x.prom'
check "... and reads files" wait_until 'inside poolscope-dump --kind entity --format jsonl | grep -q "\"names\": \"packaged\""' 40
check "an event is stored" inside poolscope-emit test one --wait stored
check "a member of group poolscope emits and reads" inside setpriv --reuid 54322 --regid 54322 --groups "$(
	sed -n 's/^poolscope:[^:]*:\([0-9]*\):.*/\1/p' "$root/etc/group")" sh -c \
	'poolscope-emit --dir /var/lib/poolscope people member --wait stored && poolscope-dump --dir /var/lib/poolscope --kind event | grep -q member'
check_text "... and cannot send past the agent" "poolscope:poolscope-agent 660 poolscope:poolscope 600" \
	"$(inside stat -c '%U:%G %a' /var/lib/poolscope/run/broker.ipc /var/lib/poolscope/run/intake.ipc | xargs)"
for name in receiver agent broker aggregator; do stop $name; done

# ---- upgrade: the same with a higher number
echo '# changed here' >>"$root/etc/poolscope/conf.d/agent.conf"
for package in $packages; do
	rm -rf "$TMP/again"
	dpkg-deb -R build/deb/"${package}"_*.deb "$TMP/again"
	sed -i 's/^Version: .*/&+1/; s/\(libpoolscope0 (= [^)]*\))/\1+1)/' "$TMP/again/DEBIAN/control"
	dpkg-deb -b "$TMP/again" "$root/tmp/$package+1.deb" >/dev/null
done
check "they upgrade" inside sh -c 'dpkg -i /tmp/*+1.deb'
check "a changed configuration stays" grep -q '^# changed here' "$root/etc/poolscope/conf.d/agent.conf"
check "the aggregator works again" up poolscope aggregator
check "the broker works again" up poolscope broker
check "the agent works again" up poolscope-agent agent
check "a second event is stored" inside poolscope-emit test two --wait stored
check_text "... and the first is still there" 2 \
	"$(inside poolscope-dump --format jsonl --name 'test:*' 2>/dev/null | wc -l)"
for name in agent broker aggregator; do stop $name; done

# ---- remove keeps everything, purge what was collected
check "they are removed" inside sh -c "dpkg -r $packages"
check "the store stays" test -s "$root/var/lib/poolscope/store/journal/data.mdb"
check "the spool stays" test -d "$root/var/lib/poolscope/spool"
check "they are purged" inside sh -c "dpkg -P $packages"
check_printed "... and say that the store stays" "the records stay in /var/lib/poolscope/store (.*rm -r /var/lib/poolscope/store"
check_printed "... and that the spool is deleted" "deleting /var/lib/poolscope/spool (.*also what was not sent yet"
check "the store stays" test -s "$root/var/lib/poolscope/store/journal/data.mdb"
check "so does the file of another program" test -s "$root/var/lib/poolscope/metrics.d/x.prom"
rm -r "$root/var/lib/poolscope/store" "$root/var/lib/poolscope/metrics.d" && rmdir "$root/var/lib/poolscope"
files | comm -13 "$TMP/before" - | grep -v -e '^./etc/\(passwd\|group\|shadow\|gshadow\)-$' \
	-e '^./etc/.pwd.lock$' >"$TMP/left"
check_text "nothing is left" "" "$(xargs <"$TMP/left")"
