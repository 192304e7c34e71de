# suites - find the tests of a suite, and the make targets that they need.
#
#   . tests/suites.sh
#
# SPDX-License-Identifier: MIT
# shellcheck shell=sh

# found SUITE NAME: print the C tests of unit or fuzz, without .c, whose path or
# file name begins with NAME; only NAME if it is the name of a test.
found() {
	if [ -e "tests/$1/$2.c" ]; then
		echo "$2"
		return
	fi
	_depth=9
	[ "$1" = unit ] || _depth=1
	find "tests/$1" -maxdepth "$_depth" -name '*.c' | sed "s|^tests/$1/||; s|\.c\$||" |
		awk -v b="$2" '{ n = $0; sub(/.*\//, "", n)
			if (index($0, b) == 1 || index(n, b) == 1) print }' | sort
}

# targets DIRECTORY SUITES...: print what to build in build/ or build/VARIANT.
targets() {
	_b=$1
	shift
	for _each; do
		_suite=${_each%%/*}
		_name=${_each#"$_suite"}
		_name=${_name#/}
		case $_suite in
		unit | fuzz)
			found "$_suite" "$_name" | sed "s|^|$_b/$_suite/|"
			;;
		model) ;;
		flow) echo all flows ;;
		fault) echo all faults ;;
		parts) echo all parts python ;;
		*) echo all ;;
		esac
	done | tr ' ' '\n' | sort -u
}

golden="perf-sampler perf-reports scanner testrun testbench cascade"

# scripts SUITE/NAME...: print, a line each, SUITE/SCRIPT for the suites that are
# scripts, and golden/PART; other suites as they are.
scripts() {
	for _each; do
		case $_each in
		flow* | fault* | attack* | parts* | web* | scenario*)
			_name=${_each#*/}
			[ "$_name" != "$_each" ] || _name=
			for _script in "tests/${_each%%/*}/$_name"*.sh; do
				case $_script in
				*/[0-9]*) _script=${_script#tests/} && echo "${_script%.sh}" ;;
				esac
			done
			;;
		golden) for _part in $golden; do echo "golden/$_part"; done ;;
		*) echo "$_each" ;;
		esac
	done
}
