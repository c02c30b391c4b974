"""Reads what tests/macos/products.py asks of a Mach-O file for arm64: load commands, what it exports and imports, its signature.

After <mach-o/loader.h>, <mach-o/fixup-chains.h> and <Security/CSCommonPriv.h> of Apple's open source. It takes what Apple's linkers of
macOS 12 and later write (chained fixups, an exports trie of its own), and refuses all else.
"""

import hashlib
import struct

MAGIC_64 = 0xFEEDFACF
CPU_ARM64 = 0x0100000C
FILE_DYLIB = 6
PAGE = 0x4000  # of Apple Silicon

SEGMENT_64 = 0x19
ID_DYLIB = 0xD
LOAD_DYLIB, LOAD_WEAK_DYLIB, REEXPORT_DYLIB = 0xC, 0x80000018, 0x8000001F
RPATH = 0x8000001C
CODE_SIGNATURE = 0x1D
BUILD_VERSION = 0x32
EXPORTS_TRIE, CHAINED_FIXUPS = 0x80000033, 0x80000034
PLATFORM_MACOS = 1

EMBEDDED_SIGNATURE, CODE_DIRECTORY = 0xFADE0CC0, 0xFADE0C02
AD_HOC, LINKER_SIGNED = 0x2, 0x20000
SHA256 = 2


class Malformed(Exception):
    """The file is not what this reader takes."""


def c_string(data, offset):
    return data[offset:data.index(0, offset)].decode()


def version(number):
    return f"{number >> 16}.{number >> 8 & 255}"


class MachO:
    """A dynamic library. libraries: what it loads, in order; exports: names; imports: (name, place), where place is a library's, from 1, or
    one of those below."""

    ANY, FIRST_WEAK = -2, -3  # of all libraries of the process; of those that define the name weakly, as C++ asks for

    def __init__(self, data):
        self.data = bytes(data)
        self.segments, self.libraries, self.rpaths = {}, [], []
        self.name = self.platform = self.oldest = None
        self.pieces = {}  # load command: (offset, size) in the file
        if len(self.data) < 32:
            raise Malformed("shorter than a header")
        magic, cpu, _, kind, commands, size, self.flags, _ = struct.unpack_from("<8I", self.data)
        if (magic, cpu, kind) != (MAGIC_64, CPU_ARM64, FILE_DYLIB):
            raise Malformed("not a dynamic library for arm64")
        self.read_commands(commands, 32 + size)
        self.exports = sorted(self.read_trie(*self.piece(EXPORTS_TRIE)))
        self.imports = self.read_imports(*self.piece(CHAINED_FIXUPS))

    def piece(self, command):
        if command not in self.pieces:
            raise Malformed(f"no load command {command:#x}")
        return self.pieces[command]

    def read_commands(self, count, end):
        place = 32
        for _ in range(count):
            command, size = struct.unpack_from("<2I", self.data, place)
            if size < 8 or place + size > end:
                raise Malformed(f"load command {command:#x} leaves the table")
            self.read_command(command, place)
            place += size

    def read_command(self, command, place):
        if command == SEGMENT_64:
            name, address, memory, offset, size = struct.unpack_from("<16s4Q", self.data, place + 8)
            self.segments[name.rstrip(b"\0").decode()] = (address, memory, offset, size)
        elif command == ID_DYLIB:
            self.name = c_string(self.data, place + struct.unpack_from("<I", self.data, place + 8)[0])
        elif command in (LOAD_DYLIB, LOAD_WEAK_DYLIB, REEXPORT_DYLIB):
            self.libraries.append(c_string(self.data, place + struct.unpack_from("<I", self.data, place + 8)[0]))
        elif command == RPATH:
            self.rpaths.append(c_string(self.data, place + struct.unpack_from("<I", self.data, place + 8)[0]))
        elif command == BUILD_VERSION:
            self.platform, oldest = struct.unpack_from("<2I", self.data, place + 8)
            self.oldest = version(oldest)
        elif command in (CODE_SIGNATURE, EXPORTS_TRIE, CHAINED_FIXUPS):
            self.pieces[command] = struct.unpack_from("<2I", self.data, place + 8)

    def uleb(self, place):
        value = shift = 0
        while True:
            byte = self.data[place]
            value |= (byte & 127) << shift
            place, shift = place + 1, shift + 7
            if byte < 128:
                return value, place

    def read_trie(self, offset, size):
        """The names of an exports trie, whose edges hold parts of names."""
        names, todo, seen = [], [(0, "")], set()
        while todo and size:
            node, prefix = todo.pop()
            if node in seen or node >= size:
                raise Malformed("the exports trie is no tree")
            seen.add(node)
            length, place = self.uleb(offset + node)
            if length:
                names.append(prefix)
            place += length
            children, place = self.data[place], place + 1
            for _ in range(children):
                part = c_string(self.data, place)
                child, place = self.uleb(place + len(part.encode()) + 1)
                todo.append((child, prefix + part))
        return names

    def read_imports(self, offset, _):
        _, _, imports, symbols, count, form, packed = struct.unpack_from("<7I", self.data, offset)
        sizes = {1: 4, 2: 8, 3: 16}  # a word, a word and an addend, two long words
        if form not in sizes or packed:
            raise Malformed(f"imports of form {form}, packed {packed}")
        found = []
        for place in range(count):
            at = offset + imports + place * sizes[form]
            if form == 3:
                bits = struct.unpack_from("<Q", self.data, at)[0]
                library, name = bits & 0xFFFF, bits >> 32
                library -= 0x10000 if library >= 0xFFF0 else 0
            else:
                bits = struct.unpack_from("<I", self.data, at)[0]
                library, name = bits & 0xFF, bits >> 9
                library -= 0x100 if library >= 0xF0 else 0
            found.append((c_string(self.data, offset + symbols + name), library))
        return found

    def signature_problems(self):
        """What is wrong with the ad-hoc signature, which a Mac's kernel checks page by page as it maps the file."""
        offset, size = self.piece(CODE_SIGNATURE)
        if offset + size != len(self.data):
            return ["the signature is not the file's end"]
        magic, _, blobs = struct.unpack_from(">3I", self.data, offset)
        if magic != EMBEDDED_SIGNATURE:
            return ["no embedded signature"]
        for blob in range(blobs):
            at = offset + struct.unpack_from(">2I", self.data, offset + 12 + 8 * blob)[1]
            if struct.unpack_from(">I", self.data, at)[0] == CODE_DIRECTORY:
                return self.directory_problems(at, offset)
        return ["the signature has no code directory"]

    def directory_problems(self, at, end):
        _, _, _, flags, hashes, _, _, slots, limit = struct.unpack_from(">9I", self.data, at)
        hash_size, kind, _, page_bits = struct.unpack_from("4B", self.data, at + 36)
        problems = []
        if flags & AD_HOC == 0:
            problems.append(f"flags {flags:#x}: not signed ad hoc")
        if (kind, hash_size) != (SHA256, 32):
            problems.append("hashes are not SHA-256")
        if limit != end:
            problems.append("the signature does not cover what lies before it")
        page = 1 << page_bits
        if slots != -(-limit // page):
            return [*problems, f"{slots} hashes of {-(-limit // page)} pages"]
        for slot in range(slots):
            wanted = self.data[at + hashes + 32 * slot:at + hashes + 32 * (slot + 1)]
            if hashlib.sha256(self.data[slot * page:min((slot + 1) * page, limit)]).digest() != wanted:
                problems.append(f"the hash of page {slot} is wrong")
        return problems
