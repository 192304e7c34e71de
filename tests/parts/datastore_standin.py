#!/usr/bin/python3
"""datastore_standin - Google's token service and Datastore, as strict as the
real ones where their emulator is not.

	datastore_standin.py PORT PROJECT EMAIL PUBLIC-KEY LOG
	                     [--uses N] [--life SECONDS]

A token is given for an assertion that Google's own library finds signed by
the key, from EMAIL, for this address, for at most an hour.  It is good for N
commits, whatever it says.  A commit is checked against the published protobuf
definitions (an unknown name, a wrong type, two values in one property are
errors) and the limits of the service.  Answers are lines of LOG: "token 200",
"commit 200 MUTATIONS BYTES", "commit 400 WHY".
SPDX-License-Identifier: MIT
"""
import argparse, http.server, json, secrets, threading, urllib.parse
from google.auth import crypt, jwt
from google.cloud.datastore_v1.types import datastore
from google.protobuf import json_format

parser = argparse.ArgumentParser()
parser.add_argument("port", type=int)
parser.add_argument("project")
parser.add_argument("email")
parser.add_argument("key")
parser.add_argument("log")
parser.add_argument("--uses", type=int, default=1 << 30)
parser.add_argument("--life", type=int, default=3599)
args = parser.parse_args()
here = f"http://127.0.0.1:{args.port}"
key = open(args.key).read()
tokens, stored, lock = {}, {}, threading.Lock()
log = open(args.log, "a", buffering=1)


class Refused(Exception):
    def __init__(self, status, name, message):
        super().__init__(message)
        self.status, self.name = status, name


def bad(message):
    return Refused(400, "INVALID_ARGUMENT", message)


def give_token(body):
    form = urllib.parse.parse_qs(body.decode(), strict_parsing=True)
    if form["grant_type"] != ["urn:ietf:params:oauth:grant-type:jwt-bearer"]:
        raise ValueError("unsupported_grant_type")
    assertion = form["assertion"][0]
    header = jwt.decode_header(assertion)
    if header["alg"] != "RS256" or "=" in assertion:
        raise ValueError("alg or padding")
    claims = jwt.decode(assertion, certs=key, audience=here + "/token")
    if claims["iss"] != args.email or claims["exp"] - claims["iat"] > 3600:
        raise ValueError("iss or exp")
    if claims["scope"] != "https://www.googleapis.com/auth/datastore":
        raise ValueError("scope")
    token = "ya29." + secrets.token_urlsafe(24)
    tokens[token] = args.uses
    return {"access_token": token, "expires_in": args.life,
            "token_type": "Bearer"}


def check_value(name, value):
    kind = value.WhichOneof("value_type")
    if not kind:
        raise bad(f"property {name} has no value")
    if kind == "string_value" and not value.exclude_from_indexes and \
            len(value.string_value.encode()) > 1500:
        raise bad(f'The value of property "{name}" is longer than 1500 bytes.')


def check_entity(entity):
    partition = entity.key.partition_id
    if partition.project_id != args.project:
        raise bad("mismatched project")
    if len(entity.key.path) != 1 or not entity.key.path[0].kind or \
            not entity.key.path[0].name:
        raise bad("incomplete key")
    for name, value in entity.properties.items():
        check_value(name, value)
    if entity.ByteSize() > 1048572:
        raise bad("entity is too big")
    return (partition.namespace_id, entity.key.path[0].kind,
            entity.key.path[0].name)


def commit(body):
    if len(body) > 10 << 20:
        raise bad("Request payload size exceeds the limit: 10485760 bytes.")
    request = datastore.CommitRequest.pb()()
    try:
        json_format.ParseDict(json.loads(body), request)
    except (ValueError, json_format.ParseError) as error:
        raise bad(f"Invalid JSON payload received. {error}")
    if request.mode != datastore.CommitRequest.Mode.NON_TRANSACTIONAL:
        raise bad("a transaction is needed")
    if len(request.mutations) > 500:
        raise bad("cannot write more than 500 entities in a single call")
    entities = {}
    for mutation in request.mutations:
        if mutation.WhichOneof("operation") != "upsert":
            raise bad("not an upsert")
        where = check_entity(mutation.upsert)
        if where in entities:
            raise bad("multiple mutations affecting the same entity")
        entities[where] = mutation.upsert
    stored.update(entities)
    return {"mutationResults": [{"version": "1"} for _ in entities],
            "indexUpdates": len(entities)}, len(entities)


def query(body):
    """For the judge: all entities of a kind, as Google's client asks."""
    request = datastore.RunQueryRequest.pb()()
    request.ParseFromString(body)
    answer = datastore.RunQueryResponse.pb()()
    answer.batch.more_results = 3
    answer.batch.entity_result_type = 1
    for (namespace, kind, _), entity in stored.items():
        if kind == request.query.kind[0].name and \
                namespace == request.partition_id.namespace_id:
            answer.batch.entity_results.add().entity.CopyFrom(entity)
    return answer.SerializeToString()


class Service(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or the body waits 40 ms for the ACK of the head

    def log_message(self, *words):
        pass

    def answer(self, status, body, kind="application/json"):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(200, b"Ok\n", "text/plain")

    def token(self, body):
        try:
            self.answer(200, give_token(body))
            log.write("token 200\n")
        except Exception as error:
            log.write(f"token 400 {error}\n")
            self.answer(400, {"error": "invalid_grant",
                              "error_description": "Invalid JWT Signature."})

    def commit(self, body):
        token = (self.headers.get("Authorization") or "")[len("Bearer "):]
        if tokens.get(token, 0) == 0:
            raise Refused(401, "UNAUTHENTICATED", "Request had invalid "
                          "authentication credentials.")
        tokens[token] -= 1
        if self.headers.get("Content-Type") != "application/json":
            raise bad("Content-Type")
        answer, mutations = commit(body)
        self.answer(200, answer)
        log.write(f"commit 200 {mutations} {len(body)}\n")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with lock:
            if self.path == "/token":
                return self.token(body)
            if self.path.endswith(":runQuery"):
                return self.answer(200, query(body), "application/x-protobuf")
            try:
                if self.path != f"/v1/projects/{args.project}:commit":
                    raise Refused(403, "PERMISSION_DENIED", "another project")
                self.commit(body)
            except Refused as refused:
                log.write(f"commit {refused.status} {refused}\n")
                self.answer(refused.status, {"error": {
                    "code": refused.status, "status": refused.name,
                    "message": str(refused)}})


http.server.ThreadingHTTPServer(("127.0.0.1", args.port),
                                Service).serve_forever()
