# state - no function has a variable of its own that outlives it, and in exporters no file
# has one either but those of state.txt, each with its reason.
#
# Several threads of the page answer at once, and what one of them left in such a variable
# was in the answer of another: names of one pool in that of another.  The compiler says in
# the objects what can be written: a constant table is not there.
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
set -eu
cd "$(dirname "$0")/../.."
command -v objdump >/dev/null || { echo "SKIPPED state: no objdump"; exit 0; }
objects=$(find agents aggregator broker deploy exporters proto -name '*.c' | sort |
	while read -r source; do
		object=build/${source%.c}.o
		# Only another variant was built.
		[ ! -e "$object" ] || echo "$object"
	done)
[ -n "$objects" ] || { echo "SKIPPED state: no objects in build"; exit 0; }
# shellcheck disable=SC2086 # a list of words
objdump -t $objects | awk '
	FNR == NR {
		sub(/#.*/, "")
		if (NF == 2)
			allowed[$1 " " $2] = 1
		next
	}
	/file format/ {
		source = $1
		sub(/^build\//, "", source)
		sub(/\.o:$/, ".c", source)
	}
	# VALUE FLAGS SECTION SIZE NAME: an object ("O") in memory that can be written.
	/ O \.t?(data|bss)/ && !/ O \.data\.rel\.ro/ {
		name = $NF
		if (split(name, part, ".") > 1) { # name.0 of gcc, function.name of clang
			printf "%s: a function keeps its variable %s between two calls\n", source, name
			wrong = 1
		} else if (source ~ /^exporters\// && !(seen[source " " name] = source " " name in allowed)) {
			printf "%s: %s is shared by all answers, and state.txt gives no reason for it\n", source, name
			wrong = 1
		}
	}
	END {
		for (each in allowed)
			if (!seen[each]) {
				printf "state.txt: %s is no longer needed\n", each
				wrong = 1
			}
		exit wrong
	}' tests/lint/state.txt -
