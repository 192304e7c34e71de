#!/usr/bin/python3
"""azure - requests to Azure Blob storage, signed by nothing of ours.

	azure.py METHOD PATH [NAME=VALUE...]

PATH is percent-encoded; the body of the answer goes to standard output, its
headers to standard error; exit status 1 when it is not 2xx.  The account is
that of AZURE_STORAGE_ACCOUNT, _KEY and _BLOB_ENDPOINT, whose address has the
account in it.
SPDX-License-Identifier: MIT
"""
import base64, email.utils, hashlib, hmac, os, sys, urllib.error, urllib.parse
import urllib.request

account = os.environ["AZURE_STORAGE_ACCOUNT"]
key = base64.b64decode(os.environ["AZURE_STORAGE_KEY"])
method, path, *query = sys.argv[1:]
date = email.utils.formatdate(usegmt=True)
text = "%s%sx-ms-date:%s\nx-ms-version:2021-08-06\n/%s/%s%s" % (
    method, "\n" * 12, date, account, account, path)
for pair in sorted(query):
    text += "\n" + pair.replace("=", ":", 1)
mac = hmac.new(key, text.encode(), hashlib.sha256).digest()
request = urllib.request.Request(
    os.environ["AZURE_STORAGE_BLOB_ENDPOINT"] + path + "?" + "&".join(query),
    method=method, headers={
        "x-ms-date": date, "x-ms-version": "2021-08-06",
        "Authorization": "SharedKey %s:%s" % (
            account, base64.b64encode(mac).decode())})
try:
    with urllib.request.urlopen(request) as answer:
        sys.stderr.write(str(answer.headers))
        sys.stdout.buffer.write(answer.read())
except urllib.error.HTTPError as e:
    sys.exit("%d %s" % (e.code, e.read()))
