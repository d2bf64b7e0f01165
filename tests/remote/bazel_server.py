"""A server of Bazel's remote cache over HTTP that trusts nothing: PUT /cas/DIGEST must have that digest, and PUT /ac/KEY be an
ActionResult whose blobs are there. GET /ac answers with a result that the generated classes encode anew, with more fields than
were put. At the end it prints what it counted.

    bazel_server.py FILE    writes its port into the file
"""
import hashlib
import http.server
import importlib.util
import json
import signal
import sys
import types

# Of the package only the messages are wanted: itself it imports much that is not installed.
messages = types.ModuleType("buildstream")
messages.__path__ = importlib.util.find_spec("buildstream").submodule_search_locations
sys.modules["buildstream"] = messages

from buildstream._protos.build.bazel.remote.execution.v2 import remote_execution_pb2 as api

BLOBS, RESULTS, COUNTS = {}, {}, {"blobs": 0, "results": 0, "hits": 0, "misses": 0, "refused": 0}


def fault_of(body):
    """Why the bytes are no ActionResult that may be kept."""
    result = api.ActionResult()
    result.ParseFromString(body)
    if result.SerializeToString(deterministic=True) != body:
        return "it is not what the protocol's own encoder writes"
    if result.exit_code != 0 or not result.output_files:
        return "no output"
    for file in result.output_files:
        if file.digest.hash not in BLOBS or len(BLOBS[file.digest.hash]) != file.digest.size_bytes or not file.path:
            return f"{file.path}: its blob is not there"
    return None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body=b""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        *_, kind, key = self.path.split("/")
        fault = None
        if kind == "cas":
            fault = None if hashlib.sha256(body).hexdigest() == key else "another digest"
            if fault is None:
                BLOBS[key] = body
                COUNTS["blobs"] += 1
        else:
            fault = fault_of(body) if kind == "ac" and len(key) == 64 else "neither /ac nor /cas"
            if fault is None:
                RESULTS[key] = body
                COUNTS["results"] += 1
        if fault is not None:
            COUNTS["refused"] += 1
            print(self.path, fault, file=sys.stderr, flush=True)
        self.answer(200 if fault is None else 400)

    def do_GET(self):
        *_, kind, key = self.path.split("/")
        body = (BLOBS if kind == "cas" else RESULTS).get(key)
        COUNTS["misses" if body is None else "hits"] += 1
        if body is None:
            self.answer(404)
            return
        if kind == "ac":
            result = api.ActionResult.FromString(body)
            result.stdout_raw = b"built"
            result.execution_metadata.worker = "a build machine"
            result.output_files[0].is_executable = True
            body = result.SerializeToString()
        self.answer(200, body)

    do_HEAD = do_GET

    def log_message(self, *words):
        pass


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    signal.signal(signal.SIGTERM, lambda *_: (print(json.dumps(COUNTS), flush=True), sys.exit(0)))
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        print(server.server_port, file=file)
    server.serve_forever()


if __name__ == "__main__":
    main()
