#!/bin/sh
# What somebody wrote about a span is a text like that of an event: a report of one node, with its
# trace and without names, does not have the owner of a span.
# SPDX-License-Identifier: MIT
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/../scenario/lib.sh"

aggregate
records <<-'END'
	event 0 n1 work:start
	event 9 n1 work:end
	span 1 8 n1 track-1 step owner=qzxalice
END
# found: how often the report has the name, also in what it has compressed.
found() {
	/usr/bin/python3 - "$TMP/r.html" <<'END'
import base64, gzip, re, sys, zlib
text = open(sys.argv[1]).read()
blocks = [gzip.decompress(base64.b64decode(each)) for each in
          re.findall(r'<script type="application/octet-stream" id="\w+">([^<]*)</script>', text)]
assert len(blocks) > 1, "no trace"
for block in blocks[:]:
    for at in range(len(block) - 2):  # packets of the trace
        if block[at] == 0x78 and (block[at] << 8 | block[at + 1]) % 31 == 0:
            try:
                blocks.append(zlib.decompressobj().decompress(block[at:]))
            except zlib.error:
                pass
print(sum(block.lower().count(b"qzxalice") for block in [text.encode(), *blocks]) > 0)
END
}
check "a report with names" poolscope-report --quiet -o "$TMP/r.html" --with-trace
check_text "... has the owner of the span" True "$(found)"
check "a report without names" poolscope-report --quiet -o "$TMP/r.html" --with-trace --anonymise
check_text "... has it nowhere" False "$(found)"
