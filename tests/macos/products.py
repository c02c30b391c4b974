"""products.py BUILD: looks at the libraries for macOS in BUILD/lib with a reader of our own, and prints `case NAME: ok|FAILED` for each.

Each is for Apple Silicon and macOS 13, is named by @rpath, links libSystem alone (Metal and libobjc are opened at run time), exports what
its table says and nothing else, and is signed ad hoc with hashes that are right. --self-test spoils the libraries in each way that is looked
for, and expects that it is found.
"""

import fnmatch
import pathlib
import re
import struct
import sys

import macho

ROOT = pathlib.Path(__file__).resolve().parents[2]
OLDEST = "13.0"
SYSTEM = "/usr/lib/libSystem.B.dylib"
# library: its names that programs of CUDA 13 look for, its version script, strings that it must hold
PRODUCTS = {
    "libcuda": ("driver_names", "src/cuda/driver/libcuda.map", ("/System/Library/Frameworks/Metal.framework/Metal", "/usr/lib/libobjc.A.dylib",
                                                                "libcupola-compiler.dylib", "/Library/Caches/cupola")),
    "libcudart": ("runtime_names", "src/cuda/cudart/libcudart.map", ("libcuda.dylib",)),
    "libnvidia-ml": ("nvml_names", "src/cuda/nvml/libnvidia-ml.map", ("libcuda.dylib",)),
    "libnvrtc": ("nvrtc_names", "src/cuda/nvrtc/libnvrtc.map", ("libcupola-frontend.dylib",)),
    "libnvvm": ("nvvm_names", "src/cuda/nvvm/libnvvm.map", ("libcupola-compiler.dylib",)),
    "libnvJitLink": ("nvjitlink_names", "src/cuda/nvjitlink/libnvJitLink.map", ("libcupola-compiler.dylib",)),
}


def names_of(table):
    lines = (ROOT / "tests" / "api" / f"{table}.txt").read_text().splitlines()
    return {line.split()[0] for line in lines if line and not line.startswith("#")}


def patterns_of(script):
    text = re.search(r"global:([^}]*?)local:", (ROOT / script).read_text(), re.S).group(1)
    return [word for word in re.split(r"[;\s]+", text) if word]


def segment_problems(library):
    for name, (address, memory, offset, size) in library.segments.items():
        if address % macho.PAGE or offset % macho.PAGE or size > memory and name != "__LINKEDIT":
            yield f"segment {name} lies at {address:#x}, in the file at {offset:#x}, with {size} of {memory} bytes"


def export_problems(library, table, script):
    exported = {name.removeprefix("_") for name in library.exports}
    missing = sorted(names_of(table) - exported)
    if missing:
        yield f"{len(missing)} names are missing, as {missing[0]}"
    for name in sorted(exported):
        if not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns_of(script)):
            yield f"exports {name}"


def problems_of(name, data):
    """What is wrong with the library of that name."""
    table, script, strings = PRODUCTS[name]
    try:
        library = macho.MachO(data)
        problems = library.signature_problems()
    except (macho.Malformed, struct.error, IndexError, ValueError) as error:
        return [f"not read: {error}"]
    if (library.platform, library.oldest) != (macho.PLATFORM_MACOS, OLDEST):
        problems.append(f"for platform {library.platform} from {library.oldest}")
    if library.name != f"@rpath/{name}.dylib":
        problems.append(f"its name is {library.name}")
    if library.libraries != [SYSTEM] or library.rpaths:
        problems.append(f"loads {library.libraries}, with the paths {library.rpaths}")
    for symbol, place in library.imports:
        if place != 1 and not (place == library.FIRST_WEAK and symbol in library.exports):
            problems.append(f"{symbol} comes from library {place}")
    problems += segment_problems(library)
    problems += export_problems(library, table, script)
    problems += [f"does not hold '{text}'" for text in strings if text.encode() not in data]
    return problems


def command(data, wanted):
    """Where the load command of that number is."""
    place = 32
    for _ in range(struct.unpack_from("<I", data, 16)[0]):
        number, size = struct.unpack_from("<2I", data, place)
        if number == wanted:
            return place
        place += size
    raise LookupError(f"no load command {wanted:#x}")


def spoiled(data):
    """(how, the library spoiled so, what must be found)."""
    def changed(place, value):
        copy = bytearray(data)
        copy[place:place + len(value)] = value
        return bytes(copy)

    library = macho.MachO(data)
    name = data.index(b"@rpath/", command(data, macho.ID_DYLIB))
    system = data.index(SYSTEM.encode(), command(data, macho.LOAD_DYLIB))
    fixups = library.pieces[macho.CHAINED_FIXUPS][0]
    imports = fixups + struct.unpack_from("<I", data, fixups + 8)[0]
    trie, size = library.pieces[macho.EXPORTS_TRIE]
    letter = next(place for place in range(trie, trie + size) if data[place:place + 1].isalpha())
    signature = library.pieces[macho.CODE_SIGNATURE][0]
    directory = signature + struct.unpack_from(">I", data, signature + 16)[0]
    yield "another processor", changed(4, b"\x07"), "not a dynamic library for arm64"
    yield "one changed byte of code", changed(0x8000, bytes([data[0x8000] ^ 1])), "the hash of page"
    yield "cut short", data[:-16], "not the file's end"
    yield "not ad hoc", changed(directory + 12, b"\0\0\0\0"), "not signed ad hoc"
    yield "a younger system", changed(command(data, macho.BUILD_VERSION) + 14, b"\x0f"), "from 15.0"
    yield "another name", changed(name, b"@other"), "its name is"
    yield "another library", changed(system, b"/opt/"), "loads ["
    yield "an import from elsewhere", changed(imports, b"\xfe"), "comes from library"
    yield "another exported name", changed(letter, b"~"), "exports "
    yield "no Metal", data.replace(b"Metal.framework", b"Nickel.framewrk"), "does not hold '/System"


def self_test(build):
    data = (build / "lib" / "libcuda.dylib").read_bytes()
    for how, changed, wanted in spoiled(data):
        found = problems_of("libcuda", changed)
        good = any(wanted in problem for problem in found)
        print(f"case spoiled {how}: {'ok' if good else 'FAILED'}".replace("spoiled ", "spoiled_").replace(how, how.replace(" ", "_")))
        if not good:
            print(f"  found {found} instead of '{wanted}'")
            yield how


def main():
    build = pathlib.Path(sys.argv[1])
    failed = 0
    for name in PRODUCTS:
        file = build / "lib" / f"{name}.dylib"
        problems = problems_of(name, file.read_bytes()) if file.exists() else ["is not there"]
        print(f"case {name}.dylib: {'FAILED' if problems else 'ok'}")
        for problem in problems:
            print(f"  {problem}")
        failed += bool(problems)
    if "--self-test" in sys.argv and not failed:
        failed += len(list(self_test(build)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
