# wrap - create build/valgrind, scripts that run the programs under valgrind.
set -eu
cd "$(dirname "$0")/.."
B=build/valgrind
rm -rf "$B"
mkdir -p "$B" build/plain/bin build/plain/unit build/plain/fuzz build/plain/fault build/plain/flow
find build/plain/bin build/plain/unit build/plain/fuzz build/plain/fault build/plain/flow -type f -perm -u+x |
while read -r program; do
	mkdir -p "$(dirname "$B/${program#build/plain/}")"
	cat >"$B/${program#build/plain/}" <<-END
		#!/bin/sh
		exec valgrind -q --vgdb=no --fair-sched=yes --error-exitcode=99 \\
			--leak-check=full --show-leak-kinds=definite \\
			--errors-for-leak-kinds=definite \\
			"$PWD/$program" "\$@"
	END
	chmod +x "$B/${program#build/plain/}"
done
# The front command runs the scripts that are next to it.
cp build/plain/bin/poolscope "$B/bin/"
mkdir -p "$B/share/poolscope"
cp build/plain/share/poolscope/instance.sh "$B/share/poolscope/"
