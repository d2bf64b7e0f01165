#!/usr/bin/env python3
"""A fleet of nodes that start with one server of kernels: what a node asks of it, what it sends, and how many nodes it can bear.

    tools/fleet/fleet.py [--server nginx|redis] [--nodes 10000] [--share 100] [--seconds 60] [--tma-jit build/bin/tma-jit]

Needs NVRTC and the server's program, and no GPU. One process builds the kernels of a model (tools/fleet/model.jsonl) and uploads
them. Then one process for each `--share` nodes, with an empty cache folder, takes all of them from the server, at times that are
spread evenly over `--seconds`; what they ask and get is counted by the server, and its processor time by the kernel. Last, one
process asks for the same entries over and over on 64 connections, one request at a time on each; the server has one processor
and that process has the others. All else is computed: a server is saturated when its processor time for the nodes of a second is
a second, and a link when their bytes are.
With --check it fails unless no node compiled anything and a node alone had all kernels within a second.
"""
import argparse
import itertools
import json
import os
import re
import selectors
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
NGINX = """daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 2048; }}
http {{ log_format counted '$request_method $status $bytes_sent'; access_log {folder}/access.log counted buffer=1m flush=1s;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u;
  scgi_temp_path {folder}/s; keepalive_requests 1000000000; open_file_cache max=10000; sendfile on;
  server {{ listen 127.0.0.1:{port}; root {folder}/files; client_max_body_size 65m;
    location / {{ dav_methods PUT; create_full_put_path on; }} }} }}
"""


def program(name):
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/bin")
    if not found:
        print(f"skipped: {name} is not installed")
        sys.exit(77)
    return found


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Nginx:
    """A server of files that takes PUT."""

    def __init__(self, folder):
        self.port, self.log = free_port(), os.path.join(folder, "access.log")
        os.makedirs(os.path.join(folder, "files"))
        with open(os.path.join(folder, "nginx.conf"), "w", encoding="utf-8") as file:
            file.write(("user root;\n" if os.geteuid() == 0 else "") + NGINX.format(folder=folder, port=self.port))
        self.process = subprocess.Popen([program("nginx"), "-c", os.path.join(folder, "nginx.conf"), "-p", folder],
                                        stderr=subprocess.DEVNULL)
        self.files, self.url = os.path.join(folder, "files"), f"http://127.0.0.1:{self.port}"

    def counts(self):
        """Answered GETs, and the bytes of their answers, since the server began."""
        time.sleep(1.5)  # until the log is written
        with open(self.log, encoding="utf-8") as file:
            lines = [line.split() for line in file]
        sizes = [int(size) for method, _, size in lines if method == "GET"]
        return len(sizes), sum(sizes)

    def requests(self):
        paths = [os.path.relpath(os.path.join(folder, name), self.files) for folder, _, names in os.walk(self.files) for name in names]
        return [f"GET /{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode() for path in paths]

    def workers(self):
        return [int(pid) for pid in
                subprocess.check_output(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], text=True).split()]


class Redis:
    """A server that keeps all in memory."""

    def __init__(self, folder):
        self.port = free_port()
        self.process = subprocess.Popen([program("redis-server"), "--bind", "127.0.0.1", "--port", str(self.port), "--save", "",
                                         "--dir", folder], stdout=subprocess.DEVNULL)
        self.url = f"redis://127.0.0.1:{self.port}/0"

    def ask(self, *words):
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.sendall(encoded(*words))
            received = connection.recv(1 << 20)
            while not received.endswith(b"\r\n"):
                received += connection.recv(1 << 20)
            return received.decode()

    def counts(self):
        commands = re.search(r"cmdstat_get:calls=(\d+)", self.ask("INFO", "commandstats"))
        return int(commands[1]) if commands else 0, int(re.search(r"total_net_output_bytes:(\d+)", self.ask("INFO", "stats"))[1])

    def requests(self):
        keys = self.ask("KEYS", "tma-jit:*").split("\r\n")[2::2]
        return [encoded("GET", key) for key in keys]

    def workers(self):
        return [self.process.pid]


def encoded(*words):
    return f"*{len(words)}\r\n".encode() + b"".join(f"${len(word)}\r\n{word}\r\n".encode() for word in words)


def wait_for(server):
    for _ in range(500):
        try:
            socket.create_connection(("127.0.0.1", server.port)).close()
            return
        except OSError:
            time.sleep(0.01)
    sys.exit("the server does not start")


def start_node(options, server, folder, role):
    """A process that has all kernels of the model when it ends."""
    environment = {**os.environ, "TMA_JIT_REMOTE": server.url, "TMA_JIT_REMOTE_ROLE": role, "HOME": folder, "XDG_RUNTIME_DIR": folder}
    words = ["warm", "--manifest", options.manifest, "--device", options.device, "--cache-dir", os.path.join(folder, "cache"), "--json"]
    return subprocess.Popen([options.tma_jit, *words, *(["--remote", server.url] if role == "read-write" else [])], env=environment,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def result_of(process):
    out, err = process.communicate()
    if process.returncode != 0:
        sys.exit(f"a node ended with {process.returncode}: {err}")
    return json.loads(out)


def run_nodes(options, server, folder, count, seconds):
    """What `count` nodes report that start within `seconds`."""
    begin, running = time.monotonic(), []
    for i in range(count):
        time.sleep(max(0.0, begin + i * seconds / count - time.monotonic()))
        place = os.path.join(folder, f"node-{i}-of-{count}")
        os.makedirs(place)
        running.append(start_node(options, server, place, "read-only"))
    return [result_of(process) for process in running]


def pin(server):
    """Gives the server a processor of its own, if there are two."""
    own, *others = sorted(os.sched_getaffinity(0))
    if others:
        for worker in server.workers():
            os.sched_setaffinity(worker, {own})
        os.sched_setaffinity(0, set(others))


def processor_s(server):
    """Processor time that the server has used."""
    total = 0
    for worker in server.workers():
        for task in os.listdir(f"/proc/{worker}/task"):
            with open(f"/proc/{worker}/task/{task}/schedstat", encoding="ascii") as file:
                total += int(file.read().split()[0])
    return total * 1e-9


def drive(server, seconds, connections=64):
    """Answers and bytes of them a second, and the server's share of a processor."""
    requests = server.requests()
    sizes = []
    with socket.create_connection(("127.0.0.1", server.port)) as probe:
        for request in requests:
            probe.sendall(request)
            sizes.append(answer_size(probe))
    selector, turn, missing = selectors.DefaultSelector(), itertools.cycle(range(len(requests))), {}
    answered = moved = 0

    def ask(connection):
        number = next(turn)
        missing[connection] = sizes[number]
        connection.sendall(requests[number])
    for _ in range(connections):
        connection = socket.create_connection(("127.0.0.1", server.port))
        selector.register(connection, selectors.EVENT_READ)
        ask(connection)
    begin, used = time.monotonic(), processor_s(server)
    while time.monotonic() < begin + seconds:
        for key, _ in selector.select(1):
            size = len(key.fileobj.recv(1 << 20))
            moved += size
            missing[key.fileobj] -= size
            if missing[key.fileobj] <= 0:
                answered += 1
                ask(key.fileobj)
    took, used = time.monotonic() - begin, processor_s(server) - used
    for connection in missing:
        connection.close()
    return answered / took, moved / took, used / took


def answer_size(connection):
    """Bytes of one answer, head and body."""
    received = b""
    while True:
        received += connection.recv(1 << 20)
        http = re.match(rb"HTTP/1\.1 200.*?Content-Length: (\d+)\r\n.*?\r\n\r\n", received, re.DOTALL)
        redis = re.match(rb"\$(\d+)\r\n", received)
        size = http.end() + int(http[1]) if http else redis.end() + int(redis[1]) + 2 if redis else None
        if size is not None and len(received) >= size:
            return size


def report(options, alone, nodes, counted, driven):
    """`counted` are the requests, bytes and processor seconds of all nodes; `driven` is what `drive` returns."""
    times = [1e3 * node["seconds"] for node in nodes]
    own = [1e3 * node["seconds"] for node in alone]
    each, bytes_each, processor_each = (amount / len(nodes) for amount in counted)
    arriving = options.nodes / options.seconds
    rows = {
        "one node alone: least, median": f"{min(own):.0f}, {statistics.median(own):.0f} ms",
        "nodes run": f"{len(nodes)} in {options.seconds:g} s",
        "of them: median, slowest": f"{statistics.median(times):.0f}, {max(times):.0f} ms",
        "kernels compiled, failures": f"{sum(n['compiled'] for n in nodes)}, {sum(n['failed'] for n in nodes)}",
        "a node: requests, bytes": f"{each:.1f}, {bytes_each:,.0f}",
        "processor time of the server a node": f"{1e3 * processor_each:.2f} ms",
        f"{options.nodes:,} nodes: requests, bytes": f"{options.nodes * each:,.0f}, {options.nodes * bytes_each / 1e9:.2f} GB",
        f"in {options.seconds:g} s": f"{arriving * each:,.0f} requests/s, {arriving * bytes_each * 8e-9:.2f} Gbit/s, "
                                     f"{arriving * processor_each:.0%} of a processor",
        "one processor of the server is saturated by": f"{1 / processor_each:,.0f} nodes/s",
        "a link of 10 Gbit/s by": f"{10e9 / 8 / bytes_each:,.0f} nodes/s",
        "seen, 64 connections": f"{driven[0]:,.0f} requests/s, {driven[1] * 8e-9:.1f} Gbit/s, {driven[2]:.0%} of a processor",
    }
    print(f"| {options.server}, {alone[0]['kernels']} kernels | |\n|---|---:|")
    for name, value in rows.items():
        print(f"| {name} | {value} |")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", choices=("nginx", "redis"), default="nginx")
    parser.add_argument("--nodes", type=int, default=10000)
    parser.add_argument("--share", type=int, default=100, help="nodes that one process stands for")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--tma-jit", default="build/bin/tma-jit")
    parser.add_argument("--device", default="h200")
    parser.add_argument("--manifest", default=os.path.join(HERE, "model.jsonl"))
    parser.add_argument("--check", action="store_true")
    return parser.parse_args()


def main():
    options = parse()
    processors = os.sched_getaffinity(0)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        os.chmod(folder, 0o700)
        server = {"nginx": Nginx, "redis": Redis}[options.server](folder)
        try:
            wait_for(server)
            builder = start_node(options, server, folder, "read-write")
            out, err = builder.communicate()
            if builder.returncode != 0 and "nvrtc" in err.lower():
                print("skipped: there is no NVRTC")
                sys.exit(77)
            if builder.returncode != 0:
                sys.exit(f"the builder ended with {builder.returncode}: {out}{err}")
            alone = [run_nodes(options, server, os.path.join(folder, str(i)), 1, 0)[0] for i in range(5)]
            before = (*server.counts(), processor_s(server))
            nodes = run_nodes(options, server, folder, max(1, options.nodes // options.share), options.seconds)
            counted = [after - first for after, first in zip((*server.counts(), processor_s(server)), before)]
            pin(server)
            report(options, alone, nodes, counted, drive(server, min(5, options.seconds)))
        finally:
            server.process.send_signal(signal.SIGTERM)
            server.process.wait()
            os.sched_setaffinity(0, processors)
    if options.check:
        for node in alone + nodes:
            assert node["compiled"] == 0 and node["failed"] == 0 and node["there"] == node["kernels"], node
        assert min(node["seconds"] for node in alone) <= 1, "a node alone needs more than a second"


if __name__ == "__main__":
    main()
