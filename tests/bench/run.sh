# run - every benchmark, each next to its limit or peer; one at a time.
#
#   B=build sh tests/bench/run.sh [NAME...]
set -eu
cd "$(dirname "$0")/../.."
B=${B:-build}
PATH=$PWD/$B/bin:$PATH
export PATH B
if [ $# -gt 0 ]; then
	names=$*
else
	names=$(for f in tests/bench/*.c tests/bench/*.sh; do
		f=${f##*/}
		case $f in run.sh | lib.sh) ;; *) echo "${f%.*}" ;; esac
	done | sort -u)
fi
for name in $names; do
	echo "== $name"
	if [ -f "tests/bench/$name.sh" ]; then
		sh "tests/bench/$name.sh"
	else
		"$B/bench/$name"
	fi
done
