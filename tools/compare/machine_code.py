#!/usr/bin/env python3
"""Compares the machine code of two versions of the templates or of the command, to show that a change of their text changes
no kernel: a sample of configurations is built by both, and the code sections and registers of the cubins are compared.

    machine_code.py OLD NEW [--count 50] [--seed 1] [--only gemm,softmax]

OLD and NEW are each a folder of templates or a `tma-jit` command. Folders are used with the command that --tma-jit names.
The sample is drawn from the presets of all kernels, for every target that a file serves. Needs NVRTC, and no GPU. Exits
with 1 if a configuration differs."""
import argparse
import hashlib
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

DEVICES = {"sm_80": "a100", "sm_86": "a10", "sm_89": "l4", "sm_90a": "h100", "sm_100a": "b200", "sm_103a": "b300",
           "sm_120a": "rtx5090", "sm_121a": "gb10"}


def command_of(side, command):
    return [command, "--templates", side] if os.path.isdir(side) else [side]


def output_of(command, verb, *words):
    """What a verb prints, or None if it fails."""
    done = subprocess.run([command[0], verb, *words, *command[1:]], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else None


def configurations(command, only):
    """The words of a build for each preset of each file, for each target that the file serves."""
    for file in json.loads(output_of(command, "list", "--json"))["kernels"]:
        if only and file["kernel"] not in only:
            continue
        dims = [f"{dim['name']}=1024" for dim in file["dims"] if dim["value"] is None]
        hooks = [f"--hook={hook['name']}={hook['parameters'][0]['name']}" for hook in file["hooks"] if hook["default"] is None]
        stem = os.path.basename(file["file"]).removesuffix(".cu")
        for preset in file["presets"]:
            pinned = [f"{name}={value}" for name, value in preset["settings"].items()]
            for arch in file["archs"]:
                yield [file["kernel"], *dims, *pinned, *hooks, "--template-file", stem, "--device", DEVICES[arch]]


def sections(elf):
    """The name and bytes of each section of a 64-bit ELF file."""
    table, = struct.unpack_from("<Q", elf, 40)
    entry, count, names = struct.unpack_from("<HHH", elf, 58)
    headers = [struct.unpack_from("<IIQQQQ", elf, table + i * entry) for i in range(count)]
    base = headers[names][4]
    for name, kind, _, _, begin, size in headers:
        end = elf.index(b"\0", base + name)
        yield elf[base + name:end].decode(), b"" if kind == 8 else elf[begin:begin + size]


def code_of(command, words, folder):
    """The digest of a configuration's code, its registers, and None for both if it does not build."""
    path = os.path.join(folder, "kernel.cubin")
    built = output_of(command, "build", *words, "--no-cache", "--json", "-o", path)
    if built is None:
        return None
    with open(path, "rb") as file:
        code = sorted(part for part in sections(file.read()) if part[0].startswith(".text."))
    digest = hashlib.sha256(b"".join(name.encode() + bytes for name, bytes in code)).hexdigest()
    return digest, json.loads(built)["registers"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=lambda text: text.split(","), default=[])
    parser.add_argument("--tma-jit", default="build/bin/tma-jit")
    options = parser.parse_args()
    old, new = (command_of(side, options.tma_jit) for side in (options.old, options.new))
    sample = list(configurations(new, options.only))
    random.Random(options.seed).shuffle(sample)
    same = different = skipped = 0
    with tempfile.TemporaryDirectory() as folder:
        for words in sample:
            if same + different == options.count:
                break
            before, after = code_of(old, words, folder), code_of(new, words, folder)
            if before is None or after is None:
                skipped += 1
                continue
            same += before == after
            different += before != after
            if before != after:
                print(f"differs ({before[1]} and {after[1]} registers): {' '.join(words)}")
    print(f"{same} the same, {different} different; {skipped} passed over, which one of the two does not build")
    return 1 if different or not same else 0


if __name__ == "__main__":
    sys.exit(main())
