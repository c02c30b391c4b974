"""Checks .metallib files against the facts of the format (docs/metallib.md), independently of src/backend/metal/metallib: it was
written before that, and shares nothing with it.

    check_metallib.py [--self-test] [--made-by PROGRAM] [--corpus] FILE...

--made-by runs PROGRAM FOLDER first and checks what it left there. --corpus adds the *.metallib files below the folder that
CUPOLA_METALLIB_CORPUS names. Every problem is a line on standard output; the exit status is 1 if there was one.
"""

import argparse
import hashlib
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

CONTAINERS = {  # AIR version: container version, MSL version
    (2, 3): ((1, 2, 5), (2, 3)),
    (2, 4): ((1, 2, 6), (2, 4)),
    (2, 5): ((1, 2, 7), (3, 0)),
    (2, 6): ((1, 2, 7), (3, 1)),
    (2, 7): ((1, 2, 8), (3, 2)),
    (2, 8): ((1, 2, 9), (4, 0)),
}
FIXED_LENGTHS = {b"TYPE": 1, b"HASH": 32, b"OFFT": 24, b"VERS": 8, b"MDSZ": 8, b"SOFF": 8, b"RFLT": 8, b"UUID": 16,
                 b"HSRC": 16, b"HSRD": 16, b"RLST": 16, b"HDYN": 16, b"SLST": 16}
WIDE = (b"RBUF", b"SBUF", b"SARC")  # their lengths have four bytes
REQUIRED = (b"NAME", b"TYPE", b"HASH", b"OFFT", b"VERS", b"MDSZ")


class Malformed(Exception):
    pass


class Bytes:
    """A range of the file, read from its start to its end."""

    def __init__(self, data, start, end, what):
        if not 0 <= start <= end <= len(data):
            raise Malformed(f"{what}: bytes {start}..{end} are not within the file's {len(data)}")
        self.data, self.at, self.end, self.what = data, start, end, what

    def take(self, count):
        if count > self.end - self.at:
            raise Malformed(f"{self.what}: {count} bytes wanted at {self.at}, it ends at {self.end}")
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))[0]

    def tags(self):
        """The tags up to ENDT, in order."""
        found = []
        while (name := self.take(4)) != b"ENDT":
            length = self.number("I" if name in WIDE else "H")
            value = self.take(length)
            if name in FIXED_LENGTHS and length != FIXED_LENGTHS[name]:
                raise Malformed(f"{self.what}: {name.decode()} has {length} bytes, not {FIXED_LENGTHS[name]}")
            if name in dict(found):
                raise Malformed(f"{self.what}: {name!r} twice")
            found.append((name, value))
        return dict(found)

    def group(self, counts_itself=True):
        """Tags behind their size."""
        start, size = self.at, self.number("I")
        inner = Bytes(self.data, self.at, start + size if counts_itself else self.at + size, self.what)
        if inner.end > self.end:
            raise Malformed(f"{self.what}: a group of {size} bytes at {start} goes beyond {self.end}")
        found = inner.tags()
        if inner.at != inner.end:
            raise Malformed(f"{self.what}: a group of {size} bytes at {start} has its ENDT early, at {inner.at}")
        self.at = inner.end
        return found

    def text(self):
        end = self.data.find(b"\0", self.at, self.end)
        if end < 0:
            raise Malformed(f"{self.what}: a string at {self.at} has no end")
        return self.take(end + 1 - self.at)[:-1]


def expect(condition, message):
    if not condition:
        raise Malformed(message)


def tag_size(item):
    name, value = item
    return 4 + (4 if name in WIDE else 2) + len(value)


def check_module(module, what):
    """The bitcode wrapper, where there is one, names a range of the module that starts as bitcode does."""
    start, size = 0, len(module)
    if module[:4] == b"\xde\xc0\x17\x0b":
        expect(len(module) >= 20, f"{what}: a bitcode wrapper of {len(module)} bytes")
        _, start, size = struct.unpack("<3I", module[4:16])
        expect(start >= 20 and start + size <= len(module), f"{what}: the bitcode wrapper leads out of the module")
    expect(module[start:start + 4] == b"BC\xc0\xde" and size >= 4, f"{what}: the module is not bitcode")


def check(data):
    """Raises Malformed for the first problem; else the number of functions."""
    header = Bytes(data, 0, min(88, len(data)), "header")
    expect(header.take(4) == b"MTLB", "header: not MTLB")
    major, minor, patch = (header.number("H") for _ in range(3))
    expect(major & 0x8000, "header: not for macOS")
    version = (major & 0x7FFF, minor, patch)
    file_type, system = header.number("B"), header.number("B")
    header.take(4)  # OS version
    expect(file_type & 0x7F <= 3, f"header: file type {file_type:#x}")
    expect(system == (0 if version < (1, 2, 6) else 0x81), f"header: OS {system:#x} in container {version}")
    expect(header.number("Q") == len(data), f"header: its size is not the file's {len(data)}")
    functions_at, functions_size, public_at, public_size, private_at, private_size, bitcode_at, bitcode_size = (
        header.number("Q") for _ in range(8))

    listing = Bytes(data, functions_at, functions_at + 4 + functions_size, "function list")
    expect(functions_at == 88, f"function list: at {functions_at}, not behind the header")
    functions = [listing.group() for _ in range(listing.number("I"))]
    expect(listing.at == listing.end, f"function list: {listing.end - listing.at} bytes too many")

    extension_bytes = Bytes(data, listing.end, public_at, "header extension")
    extension = extension_bytes.tags() if public_at > listing.end else {}
    expect(extension_bytes.at == public_at, "header extension: does not reach the public metadata")
    expect(public_at + public_size == private_at, "public metadata: does not reach the private metadata")
    expect(private_at + private_size == bitcode_at, "private metadata: does not reach the bitcode")

    # One of Apple's linkers counts the size field of a metadata group in the size, another does not.
    first = Bytes(data, public_at, public_at + public_size, "public metadata")
    counts_itself = not functions or first.number("I") != 4 + sum(map(tag_size, first.tags().items()))
    starts = {}
    for name, at, size in (("public", public_at, public_size), ("private", private_at, private_size)):
        part = Bytes(data, at, at + size, f"{name} metadata")
        starts[name] = set()
        while part.at < part.end:
            starts[name].add(part.at - at)
            part.group(counts_itself)
    sections = sections_of(data, extension, bitcode_at + bitcode_size)

    names, covered = set(), 0
    for function in functions:
        for tag in REQUIRED:
            expect(tag in function, f"a function has no {tag.decode()}")
        name = function[b"NAME"]
        expect(len(name) > 1 and name.find(b"\0") == len(name) - 1, f"function name {name!r} does not end in its only 0")
        what = "function " + name[:-1].decode(errors="replace")
        expect(name not in names, f"{what}: twice")
        names.add(name)
        public, private, offset = struct.unpack("<3Q", function[b"OFFT"])
        (size,) = struct.unpack("<Q", function[b"MDSZ"])
        expect(public in starts["public"], f"{what}: no public metadata at {public}")
        expect(private in starts["private"], f"{what}: no private metadata at {private}")
        expect(offset == covered, f"{what}: its module is at {offset}, the last one ended at {covered}")
        covered += size
        module = Bytes(data, bitcode_at + offset, bitcode_at + offset + size, what).take(size)
        expect(covered <= bitcode_size, f"{what}: its module leaves the bitcode")
        expect(hashlib.sha256(module).digest() == function[b"HASH"], f"{what}: HASH is not its module's SHA-256")
        check_module(module, what)
        air, language = struct.unpack("<4H", function[b"VERS"])[:2], struct.unpack("<4H", function[b"VERS"])[2:]
        expect(air in CONTAINERS, f"{what}: AIR {air} is unknown")
        expect(CONTAINERS[air] == (version, language), f"{what}: AIR {air} and MSL {language} in container {version}")
        for tag, lists in ((b"RFLT", (b"RLST",)), (b"SOFF", (b"HSRC", b"HSRD"))):
            if tag in function:
                (target,) = struct.unpack("<Q", function[tag])
                expect(any(target in sections.get(section, ()) for section in lists),
                       f"{what}: {tag.decode()} {target} is not where something starts")
    expect(covered == bitcode_size, f"bitcode: {bitcode_size - covered} bytes belong to no function")
    return len(functions)


def sections_of(data, extension, start):
    """What lies behind the bitcode, in the order of the header extension: section to the offsets that functions may name."""
    sections, covered = {}, start
    for name, value in extension.items():
        if name == b"UUID":
            continue
        expect(len(value) == 16, f"header extension: {name!r} is no section")
        at, size = struct.unpack("<2Q", value)
        expect(at == covered, f"{name.decode()}: at {at}, the last section ended at {covered}")
        part = Bytes(data, at, at + size, name.decode())
        covered += size
        sections[name] = set()
        if name in (b"RLST", b"SLST"):
            for _ in range(part.number("I")):
                sections[name].add(part.at - at)
                expect((b"RBUF" if name == b"RLST" else b"SBUF") in part.group(), f"{name.decode()}: an entry has no buffer")
        elif name in (b"HSRC", b"HSRD"):
            count = part.number("I")
            part.text()
            if name == b"HSRD":
                part.text()
            for _ in range(count):
                sections[name].add(part.at + 4 - at)
                expect(b"SARC" in part.group(counts_itself=False), f"{name.decode()}: an entry has no archive")
        elif name == b"HDYN":
            expect(b"NAME" in part.tags(), "HDYN: no name")
        else:
            part.take(size)
        expect(part.at == part.end, f"{name.decode()}: {part.end - part.at} bytes too many")
    expect(covered == len(data), f"{len(data) - covered} bytes at {covered} belong to nothing")
    return sections


def tag(name, value):
    return name + struct.pack("<I" if name in WIDE else "<H", len(value)) + value


def group(*parts):
    inner = b"".join(parts) + b"ENDT"
    return struct.pack("<I", 4 + len(inner)) + inner


def sample(**change):
    """A container of one function. `change` replaces parts by what a broken writer would have put there."""
    bitcode = change.get("bitcode", b"BC\xc0\xde" + bytes(12))
    module = struct.pack("<5I", 0x0B17C0DE, 0, change.get("wrapped_at", 20), len(bitcode), 0xFFFFFFFF) + bitcode
    tags = {
        b"NAME": b"add\0", b"TYPE": b"\2", b"HASH": hashlib.sha256(module).digest(), b"OFFT": struct.pack("<3Q", 0, 0, 0),
        b"VERS": struct.pack("<4H", 2, 5, 3, 0), b"MDSZ": struct.pack("<Q", len(module)), b"RFLT": struct.pack("<Q", 4),
    } | change.get("tags", {})
    functions = struct.pack("<I", 1) + group(*(tag(k, v) for k, v in tags.items() if v is not None))
    metadata = change.get("metadata", group())
    reflections = struct.pack("<I", 1) + group(tag(b"RBUF", b"reflection"))
    public_at = 88 + len(functions) + 22 + 22 + 4 + change.get("gap", 0)
    bitcode_at = public_at + 2 * len(metadata)
    sections_at = bitcode_at + len(module) + change.get("section_gap", 0)
    extension = tag(b"RLST", struct.pack("<2Q", sections_at, len(reflections))) + tag(b"UUID", bytes(16)) + b"ENDT"
    body = (functions + extension + bytes(change.get("gap", 0)) + metadata * 2 + module + bytes(change.get("section_gap", 0)) +
            reflections + change.get("tail", b""))
    ranges = (88, len(functions) - 4, public_at, len(metadata), public_at + len(metadata), len(metadata), bitcode_at, len(module))
    head = b"MTLB" + struct.pack("<3H2BH2B9Q", 0x8001, *change.get("version", (2, 7)), 0, change.get("system", 0x81), 13, 0, 0,
                                 88 + len(body) + change.get("size", 0), *ranges)
    return head + body


VIOLATIONS = [  # a change of the sample, words of the problem it must bring
    ({"size": 1}, "its size is not the file's"),
    ({"system": 0}, "OS 0x0"),
    ({"gap": 3}, "does not reach the public metadata"),
    ({"section_gap": 1}, "the last section ended at"),
    ({"tail": b"x"}, "belong to nothing"),
    ({"tags": {b"NAME": b"add"}}, "does not end in its only 0"),
    ({"tags": {b"NAME": None}}, "has no NAME"),
    ({"tags": {b"HASH": bytes(32)}}, "HASH is not its module's"),
    ({"tags": {b"HASH": bytes(31)}}, "HASH has 31 bytes"),
    ({"tags": {b"MDSZ": struct.pack("<Q", 35)}}, "HASH is not its module's"),
    ({"tags": {b"MDSZ": struct.pack("<Q", 37)}}, "leaves the bitcode"),
    ({"tags": {b"OFFT": struct.pack("<3Q", 1, 0, 0)}}, "no public metadata at 1"),
    ({"tags": {b"OFFT": struct.pack("<3Q", 0, 8, 0)}}, "no private metadata at 8"),
    ({"tags": {b"OFFT": struct.pack("<3Q", 0, 0, 4)}}, "its module is at 4"),
    ({"tags": {b"RFLT": struct.pack("<Q", 5)}}, "RFLT 5 is not where something starts"),
    ({"tags": {b"SOFF": struct.pack("<Q", 4)}}, "SOFF 4 is not where something starts"),
    ({"tags": {b"VERS": struct.pack("<4H", 2, 6, 3, 0)}}, "AIR (2, 6) and MSL (3, 0)"),
    ({"version": (2, 8)}, "in container (1, 2, 8)"),
    ({"metadata": b"\5\0\0\0ENDT"}, "public metadata: 4 bytes wanted"),
    ({"bitcode": b"text" + bytes(12)}, "the module is not bitcode"),
    ({"wrapped_at": 24}, "leads out of the module"),
]


def self_test():
    expect(check(sample()) == 1, "the self-test's sample")
    expect(check(sample(metadata=b"\4\0\0\0ENDT")) == 1, "the self-test's sample of the other linker")
    for change, words in VIOLATIONS:
        try:
            check(sample(**change))
        except Malformed as problem:
            expect(words in str(problem), f"self-test: {change} gave '{problem}', not '{words}'")
        else:
            raise Malformed(f"self-test: {change} was not found")
    whole = sample()
    for length in range(len(whole)):
        try:
            check(whole[:length])
        except Malformed:
            continue
        raise Malformed(f"self-test: {length} of {len(whole)} bytes were taken for a container")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--made-by")
    parser.add_argument("--corpus", action="store_true")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    files = list(options.files)
    if options.self_test:
        self_test()
    if options.corpus:
        folder = os.environ.get("CUPOLA_METALLIB_CORPUS")
        if not folder:
            print("skipped: CUPOLA_METALLIB_CORPUS names no folder of Apple-built .metallib files")
            return 77
        files += sorted(pathlib.Path(folder).rglob("*.metallib"))
        expect(files, f"no .metallib file below '{folder}'")
    with tempfile.TemporaryDirectory() as folder:
        if options.made_by:
            subprocess.run([options.made_by, folder], check=True)
            made = sorted(pathlib.Path(folder).glob("*.metallib"))
            expect(made, f"'{options.made_by}' left no .metallib file")
            files += made
        problems = functions = 0
        for file in files:
            try:
                functions += check(file.read_bytes())
            except Malformed as problem:
                problems += 1
                print(f"{file.name}: {problem}")
        print(f"{len(files)} files, {functions} functions, {problems} files with a problem")
    return 1 if problems else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Malformed as problem:
        sys.exit(f"check_metallib: {problem}")
