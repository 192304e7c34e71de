# Every program has a man page, mandoc accepts it, and --help and the page have the
# same options.
set -eu
status=0
for program in build/bin/poolscope-*; do
	name=$(basename "$program")
	page=$(find agents broker aggregator exporters proto deploy -name "$name.[18]")
	[ -n "$page" ] || { echo "$name has no man page"; status=1; continue; }
	mandoc -T lint -W warning "$page" || status=1
	for option in $("$program" --help | sed -n 's/^  .*--\([a-z-]*\).*/\1/p'); do
		grep -q -e "Fl -$option" "$page" ||
			{ echo "$page: --$option is missing"; status=1; }
	done
	for option in $(sed -n 's/^\.It .*Fl -\([a-z-]*\).*/\1/p' "$page"); do
		"$program" --help | grep -q -e "--$option\b" ||
			{ echo "$page: --$option is not an option"; status=1; }
	done
done
mandoc -T lint -W warning deploy/poolscope.1 deploy/poolscope.conf.5 deploy/poolscope.7 agents/poolscope.3 || status=1
exit $status
