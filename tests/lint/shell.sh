# Shell scripts are POSIX sh, and shellcheck accepts them.
set -eu
command -v shellcheck >/dev/null || exit 0
{ find deploy tests -name '*.sh'; echo deploy/poolscope-config; echo .ci/run; } | sort |
	xargs -n 8 -P "$(nproc)" shellcheck -s sh -x -e SC1091,SC2013,SC2016,SC2119,SC2120
