# Every program has a man page, mandoc accepts it, --help-all and the page have the same
# options and defaults, and examples use options that exist.  poolscope-stats has several
# pages: those of the questions are made (exporters/manual.sh).
set -eu
status=0
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
sh exporters/manual.sh build/bin/poolscope-stats "$made" || exit 1
mandoc -T lint -W warning "$made"/*.1 || status=1
for program in build/bin/poolscope-*; do
	name=$(basename "$program")
	page=$(find agents broker aggregator exporters proto deploy -name "$name.[18]")
	[ -n "$page" ] || { echo "$name has no man page"; status=1; continue; }
	if [ "$name" = poolscope-stats ]; then
		cat "$made"/*.1 >"$made/all"
		page=$made/all
	else
		mandoc -T lint -W warning "$page" || status=1
	fi
	for option in $("$program" --help-all | sed -n 's/^  .*--\([a-z-]*\).*/\1/p'); do
		grep -q -e "Fl -$option" "$page" ||
			{ echo "$page: --$option is missing"; status=1; }
	done
	for option in $(sed -n 's/^\.It .*Fl -\([a-z-]*\).*/\1/p' "$page"); do
		"$program" --help-all | grep -q -e "--$option\b" ||
			{ echo "$page: --$option is not an option"; status=1; }
	done
done
mandoc -T lint -W warning deploy/poolscope.1 deploy/poolscope.conf.5 deploy/poolscope.7 deploy/poolscope-numbers.7 agents/poolscope.3 agents/python/poolscope-python.7 \
	aggregator/poolscope-model.5 || status=1
# shellcheck disable=SC2046 # a list of files
python3 tests/lint/pages.py build/bin README.md "$made"/*.1 \
	$(find agents aggregator broker deploy exporters proto -name "*.[1-8]" ! -name poolscope-stats.1 | sort) || status=1
exit $status
