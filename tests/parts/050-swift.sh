#!/bin/sh
# Files to OpenStack Swift with its s3api, which checks every signature: whole,
# in parts, again after the end of the process, and what curl reads of them.
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # names with dollars
# shellcheck source=tests/flow/lib.sh
. "$(dirname "$0")/../flow/lib.sh"
# shellcheck source=tests/parts/serve.sh
. "$(dirname "$0")/serve.sh"
# shellcheck source=deploy/packages.sh
. "$ROOT/deploy/packages.sh"
need_packages parts || skip "OpenStack Swift cannot be installed"

SWIFT=$TMP/swift
mkdir -p "$SWIFT/etc" "$SWIFT/dev/d1"
# shellcheck disable=SC2046 # numbers
set -- $(free_port 5)
PROXY=$1
CACHE=$5 # nobody listens there, and nobody needs to
cat >"$SWIFT/etc/swift.conf" <<END
[swift-hash]
swift_hash_path_prefix = poolscope
swift_hash_path_suffix = poolscope
[storage-policy:0]
name = one
default = yes
END

# common NAME PORT: the beginning of its configuration.
common() {
	cat <<END
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = $2
workers = 0
user = $(id -un)
swift_dir = $SWIFT/etc
devices = $SWIFT/dev
mount_check = false
log_name = $1
log_statsd_host =
END
}

# storage NAME PORT: one of the three that keep things, and its ring of one.
storage() {
	{
		common "$1" "$2"
		printf '[pipeline:main]\npipeline = %s-server\n' "$1"
		printf '[app:%s-server]\nuse = egg:swift#%s\n' "$1" "$1"
		printf 'recon_cache_path = %s\n' "$SWIFT"
	} >"$SWIFT/etc/$1.conf"
	for command in 'create 4 1 1' "add r1z1-127.0.0.1:$2/d1 1" rebalance; do
		# shellcheck disable=SC2086 # words
		swift-ring-builder "$SWIFT/etc/$1.builder" $command \
			>>"$TMP/rings.log" 2>&1
	done
	serve "$1" /usr/bin/swift-"$1"-server "$SWIFT/etc/$1.conf"
}

# The environment is what swift finds its own configuration by.
SWIFT_DIR=$SWIFT/etc
export SWIFT_DIR
storage account "$2"
storage container "$3"
storage object "$4"
{
	common proxy "$PROXY"
	cat <<END
[pipeline:main]
pipeline = catch_errors cache s3api tempauth bulk slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:$CACHE
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
s3_acl = false
storage_domain =
[filter:tempauth]
use = egg:swift#tempauth
user_mon_up = s3cret .admin
[filter:bulk]
use = egg:swift#bulk
[filter:slo]
use = egg:swift#slo
END
} >"$SWIFT/etc/proxy.conf"
serve proxy /usr/bin/swift-proxy-server "$SWIFT/etc/proxy.conf"
answers "http://127.0.0.1:$PROXY/" proxy || exit 1

AWS_ENDPOINT_URL=http://127.0.0.1:$PROXY
AWS_ACCESS_KEY_ID=mon:up
AWS_SECRET_ACCESS_KEY=s3cret
AWS_REGION=us-east-1
export AWS_ENDPOINT_URL AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_REGION
unset AWS_SESSION_TOKEN AWS_ENDPOINT_URL_S3 http_proxy https_proxy

# judge METHOD PATH...: curl, which signs by itself.
judge() {
	_method=$1
	_path=$2
	shift 2
	curl -sf --path-as-is -X "$_method" --aws-sigv4 aws:amz:us-east-1:s3 \
		-H 'x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' \
		"$@" "http://mon%3Aup:s3cret@127.0.0.1:$PROXY$_path"
}

# same PATH FILE: what is there is what is in FILE.
same() {
	judge GET "$1" >"$TMP/got" && cmp "$TMP/got" "$2"
}

upload() {
	poolscope-upload --log info file "$@"
}

check "a bucket is made" wait_until 'judge PUT /bucket' 30

# ---- whole
printf 'hello\n' >"$TMP/hello.txt"
check "a file is put" upload "$TMP/hello.txt" --target s3:bucket/hello.txt
check "... and is what it was" same /bucket/hello.txt "$TMP/hello.txt"
judge GET /bucket/hello.txt -D "$TMP/headers" >/dev/null
check "... of the kind that its name says" \
	grep -qi '^content-type: text/plain' "$TMP/headers"
check "the same again changes nothing" upload "$TMP/hello.txt" --target s3:bucket/hello.txt
check "an empty file is put" upload /dev/null --target s3:bucket/empty
: >"$TMP/empty"
check "... and is empty" same /bucket/empty "$TMP/empty"
check "a name may have blanks, signs and letters of any kind" \
	upload "$TMP/hello.txt" --target 's3:bucket/a b/$x+y:z@(é)=,;&~!.txt'
check "... and is there by that name" \
	same '/bucket/a%20b/%24x%2By%3Az%40%28%C3%A9%29%3D%2C%3B%26~%21.txt' "$TMP/hello.txt"
check "and dots that lead upwards elsewhere" \
	upload "$TMP/hello.txt" --target s3:bucket/up/../there.txt
check "... are letters as others" same /bucket/up/../there.txt "$TMP/hello.txt"

# ---- in parts
head -c 40000000 /dev/urandom >"$TMP/forty"
check "a file of 40 MB is put in parts" upload "$TMP/forty" --target s3:bucket/forty
check_printed "... of 8 MiB" "40000000 bytes, 5 parts, 0 of them already uploaded"
check "... and is what it was" same /bucket/forty "$TMP/forty"
check "standard input is put as it comes" \
	sh -c 'poolscope-upload file - --target s3:bucket/input <"$1"' sh "$TMP/forty"
check "... and from a pipe" \
	sh -c 'cat "$1" | poolscope-upload file - --target s3:bucket/pipe' sh "$TMP/forty"
check "... all of it" same /bucket/pipe "$TMP/forty"

# ---- again
check "an upload dies with two of its parts there" \
	interrupted "$TMP/forty" 16777217 2 s3:bucket/again
check "the same upload once more ends it" upload "$TMP/forty" --target s3:bucket/again
check_printed "... and sends what was missing" "5 parts, 2 of them already uploaded"
check "... and is what it was" same /bucket/again "$TMP/forty"
interrupted "$TMP/forty" 16777217 2 s3:bucket/other
{ printf x; tail -c +2 "$TMP/forty"; } >"$TMP/changed"
check "another file by that name does not take what is not its own" \
	upload "$TMP/changed" --target s3:bucket/other
check_printed "... but what is the same" "5 parts, 1 of them already uploaded"
check "... and is what it was" same /bucket/other "$TMP/changed"
judge GET '/bucket?uploads=' >"$TMP/uploads"
check "no upload is left behind" sh -c '! grep -q "<UploadId>" "$1"' sh "$TMP/uploads"

# ---- refused
AWS_SECRET_ACCESS_KEY=not-this-one
check_status 1 "a wrong key is refused" upload "$TMP/hello.txt" --target s3:bucket/hello.txt
check_printed "... which says so" "answers 403, SignatureDoesNotMatch"
check_text "... in one line" 1 "$(wc -l <"$TMP/err")"
check "... without the key" sh -c '! grep -q "not-this-one" "$1"' sh "$TMP/err"
AWS_SECRET_ACCESS_KEY=s3cret
check_status 1 "a bucket that is not there is refused" \
	upload "$TMP/hello.txt" --target s3:nobucket/x
check_printed "... by name" "404, NoSuchBucket"
check_status 1 "so is a large file, before all of it is read" \
	upload "$TMP/forty" --target s3:nobucket/x
printf s3cret >"$TMP/key"
chmod 600 "$TMP/key"
check "the key may be in a file" env -u AWS_SECRET_ACCESS_KEY \
	AWS_SECRET_ACCESS_KEY_FILE="$TMP/key" poolscope-upload file "$TMP/hello.txt" --target s3:bucket/k
chmod 644 "$TMP/key"
check_status 1 "which nobody else may read" env -u AWS_SECRET_ACCESS_KEY \
	AWS_SECRET_ACCESS_KEY_FILE="$TMP/key" poolscope-upload file "$TMP/hello.txt" --target s3:bucket/k
check "the region is part of what is signed" sh -c \
	'! AWS_REGION=eu-west-1 poolscope-upload file "$1" --target s3:bucket/r 2>"$2" && grep -q " answers 40[03]" "$2"' \
	sh "$TMP/hello.txt" "$TMP/err"
