# packages - install the Debian packages that building or testing needs.
#
#   . deploy/packages.sh
#   need_packages build     compiler, libraries, gnuplot
#   need_packages test      more programs for the tests
#   need_packages parts     services that tests/parts starts
#
# Prints the names of what it installs; does nothing when nothing is missing.

packages_build="gcc g++ libc6-dev make pkg-config libzmq3-dev libmsgpack-dev
	liblmdb-dev libconfuse-dev libzstd-dev libsodium-dev
	zlib1g-dev libdeflate-dev libcurl4-openssl-dev libssl-dev libexpat1-dev
	libdouble-conversion-dev libmicrohttpd-dev libncurses-dev gnuplot-nox"
packages_test="libcmocka-dev python3 python3-dev python3-msgpack python3-psutil
	python3-lmdb python3-zmq clang clang-format libclang-rt-14-dev
	shellcheck universal-ctags valgrind strace mandoc zsh fish spin gdb procps
	faketime iproute2 nftables e2fsprogs xfsprogs openssl systemd debootstrap debhelper dpkg-dev
	lintian python3-yaml tmux python3-prometheus-client"

# Services that tests/parts starts; the tests fetch packages of npm and pip.
packages_parts="curl python3-venv swift-proxy swift-account swift-container swift-object
	victoria-metrics influxdb nginx-light prometheus prometheus-node-exporter chromium
	clickhouse-server clickhouse-client zookeeper default-jre-headless"

need_packages() {
	case $1 in
	build) wanted=$packages_build;;
	test) wanted=$packages_test;;
	parts)
		wanted=$packages_parts
		# The packages of other sources have npm in nodejs.
		command -v npm >/dev/null || wanted="$wanted nodejs npm";;
	*) echo "packages.sh: no such set: $1" >&2; return 2;;
	esac
	missing=
	for package in $wanted; do
		dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null |
			grep -qx installed || missing="$missing $package"
	done
	[ -n "$missing" ] || return 0
	sudo=
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null || {
			echo "packages are missing; run as root, or install sudo:$missing" >&2
			return 1
		}
		sudo=sudo
	fi
	echo "installing with apt-get:$missing" >&2
	log=$(mktemp)
	apt_get update -qq ||
		echo "apt-get update failed; using the present package lists" >&2
	# shellcheck disable=SC2086 # a list of words
	if apt_get install -y -qq --no-install-recommends $missing; then
		rm -f "$log"
		return 0
	fi
	tail -n 20 "$log" >&2
	rm -f "$log"
	return 1
}

# apt_get ARGUMENT...: with what it says in $log.  Another apt has the locks for
# minutes (unattended-upgrades of a new machine): wait for it, at most 10 minutes.
# DPkg::Lock::Timeout covers the locks of dpkg, not those of the package lists and of
# downloads.
apt_get() {
	apt_until=$(($(date +%s) + 600))
	until $sudo env DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -o DPkg::Lock::Timeout=600 \
		"$@" >"$log" 2>&1 </dev/null; do
		grep -q "Could not get lock" "$log" && [ "$(date +%s)" -lt "$apt_until" ] || return 1
		[ -n "${apt_waits:-}" ] || echo "waiting for another apt-get" >&2
		apt_waits=1
		sleep 1
	done
}
