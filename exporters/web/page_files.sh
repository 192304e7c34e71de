# page_files - print a C file with the content of these files:
# web_page_files[] of exporters/web/assets.h.
#
#   sh exporters/web/page_files.sh exporters/web/page/index.html ...
#
# SPDX-License-Identifier: MIT
# shellcheck shell=sh
set -eu
echo '#include "exporters/web/assets.h"'
n=0
for file; do
	n=$((n + 1))
	cat <<END
__asm__(".section .rodata\\n"
	"web_page_$n: .incbin \"$file\"\\n"
	"web_page_end_$n: .byte 0\\n"
	".previous\\n");
extern const unsigned char web_page_$n[], web_page_end_$n[];
END
done
echo 'const struct web_page_file web_page_files[] = {'
n=0
for file; do
	n=$((n + 1))
	echo "	{ \"${file##*/}\", web_page_$n, web_page_end_$n },"
done
echo '	{ .name = NULL },'
echo '};'
