# clang-format would not change any C file.
set -eu
command -v clang-format >/dev/null || exit 0
find agents broker aggregator deploy exporters proto tests \( -name '*.[ch]' -o -name '*.cc' \) | sort |
	xargs clang-format --dry-run -Werror
