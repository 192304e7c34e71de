# Every program has a man page, mandoc accepts it, --help-all and the page have the same
# options and defaults, and examples use options that exist.
set -eu
status=0
for program in build/bin/poolscope-*; do
	name=$(basename "$program")
	page=$(find agents broker aggregator exporters proto deploy -name "$name.[18]")
	[ -n "$page" ] || { echo "$name has no man page"; status=1; continue; }
	mandoc -T lint -W warning "$page" || status=1
	for option in $("$program" --help-all | sed -n 's/^  .*--\([a-z-]*\).*/\1/p'); do
		grep -q -e "Fl -$option" "$page" ||
			{ echo "$page: --$option is missing"; status=1; }
	done
	for option in $(sed -n 's/^\.It .*Fl -\([a-z-]*\).*/\1/p' "$page"); do
		"$program" --help-all | grep -q -e "--$option\b" ||
			{ echo "$page: --$option is not an option"; status=1; }
	done
done
mandoc -T lint -W warning deploy/poolscope.1 deploy/poolscope.conf.5 deploy/poolscope.7 agents/poolscope.3 \
	aggregator/poolscope-model.5 || status=1
for page in README.md agents/*.[1-8] aggregator/*.[1-8] broker/*.[1-8] deploy/*.[1-8] exporters/*.[1-8] proto/*.[1-8]; do
	python3 tests/lint/pages.py "$page" build/bin || status=1
done
exit $status
