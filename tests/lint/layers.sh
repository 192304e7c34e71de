# Every #include of ours, or of a library we wrap, must be in layers.txt.
set -euf
status=0
for file in $(find agents broker aggregator exporters proto tests \( -name '*.[ch]' -o -name '*.cc' \) | sort); do
	self=${file%.*}
	allowed=
	while read -r who may; do
		case $who in ''|'#'*) continue;; esac
		# shellcheck disable=SC2254 # the column is a pattern on purpose
		case $self in $who) allowed=$may; break;; esac
	done <tests/lint/layers.txt
	for inc in $(sed -n 's/^#include ["<]\([^">]*\)[">].*/\1/p' "$file"); do
		case $inc in
		sys/*|netinet/*|arpa/*|linux/*|net/*) continue;;
		*/*.h) name=${inc%.h};;
		zmq.h|msgpack.h|lmdb.h|zstd.h|confuse.h|jansson.h|sodium.h|zlib.h|libdeflate.h|expat.h|curl/*|openssl/*|double-conversion/*) name=$inc;;
		*) continue;;
		esac
		[ "$name" = "$self" ] && continue
		ok=
		for may in $allowed; do
			# shellcheck disable=SC2254
			case $name in $may) ok=1;; esac
		done
		[ -n "$ok" ] || { echo "$file may not include $inc"; status=1; }
	done
done
exit $status
