#!/usr/bin/env python3
"""Every block of C++, C or Python in a document must stand, indentation aside, in a file that tests compile or run.

    snippets.py DOCUMENT FILE...
"""
import re
import sys

LANGUAGES = {"cpp": (".cpp",), "c": (".c",), "python": (".py",)}


def stripped(text):
    """Lines without indentation, blanks between words as one, or comments at their ends."""
    lines = (re.sub(r"\s+(//|#).*$", "", line) for line in text.splitlines())
    return [" ".join(line.split()) for line in lines if line.strip()]


def stands_in(block, text):
    lines = stripped(text)
    return any(lines[at:at + len(block)] == block for at in range(len(lines) - len(block) + 1))


def main():
    document, *files = sys.argv[1:]
    with open(document, encoding="utf-8") as file:
        blocks = re.findall(r"^```(\w+)\n(.*?)^```$", file.read(), flags=re.S | re.M)
    texts = {}
    for path in files:
        with open(path, encoding="utf-8") as file:
            texts[path] = file.read()
    faults, checked = [], 0
    for language, block in blocks:
        if language not in LANGUAGES:
            continue
        checked += 1
        if not any(path.endswith(LANGUAGES[language]) and stands_in(stripped(block), text) for path, text in texts.items()):
            faults.append(f"```{language}\n{block}```")
    print(f"{checked} blocks, {len(faults)} that no file has")
    for fault in faults:
        print(fault)
    return 1 if faults or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
