"""Builds for macOS on Apple Silicon on a machine that is no Mac: the half that runs, and the thin libraries of CUDA's compilers.

zig, which PyPI has, brings clang, the headers of macOS, what its libSystem exports, and the sources of libc++; PyPI's packages lz4 and
zstandard bring the sources of these libraries. From them SDK (build-macos/sdk) is made, which cmake/macos-arm64.cmake uses, and
build-macos is built. tests/macos/products.py looks at what came out.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

from client_venv import ROOT, venv_python

BUILD = ROOT / "build-macos"
SDK = BUILD / "sdk"
TARGET = "aarch64-macos.13.0"
SOURCES = {"lz4": "4.4.5", "zstandard": "0.25.0"}
HEADERS = {"lz4": ["lz4libs/lz4.h"], "zstandard": ["zstd/zstd.h", "zstd/zstd_errors.h"]}
ARCHIVES = {"lz4": ("liblz4.a", "lz4libs/lz4.c"), "zstandard": ("libzstd.a", "zstd/zstd.c")}
HEADERS_OF_HERE = ("fmt", "xxhash.h", "xxh3.h")  # headers alone, which know no system


def run(command, **options):
    subprocess.run([str(word) for word in command], check=True, **options)


def tool(*names):
    return next((path for path in map(shutil.which, names) if path), None) or sys.exit(f"macos: {names[0]} is missing: scripts/setup installs it")


def write_compilers(zig):
    """SDK/bin/cc and c++: zig's clang for the target, with a cache in the build folder."""
    (SDK / "bin").mkdir(parents=True, exist_ok=True)
    for name in ("cc", "c++"):
        script = SDK / "bin" / name
        script.write_text(f'#!/bin/sh\nexport ZIG_GLOBAL_CACHE_DIR="{SDK}/cache" ZIG_LOCAL_CACHE_DIR="{SDK}/cache"\nexec "{zig}" {name} -target {TARGET} "$@"\n')
        script.chmod(0o755)


def copy_cpp_library():
    """zig makes libc++ when it links the first program; the archives are in its cache."""
    program = SDK / "first.cpp"
    program.write_text("#include <iostream>\nint main() { std::cout << 1; }\n")
    run([SDK / "bin" / "c++", program, "-o", SDK / "first"])
    for name in ("libc++.a", "libc++abi.a", "libcompiler_rt.a"):
        newest = max((SDK / "cache" / "o").glob(f"*/{name}"), key=lambda path: path.stat().st_mtime)
        shutil.copyfile(newest, SDK / "lib" / name)


def write_system_stub(zig):
    """What libSystem exports. SDKs name arm64e alone, which stands for arm64; LLVM knows no variants of it."""
    text = (zig.parent / "lib" / "libc" / "darwin" / "libSystem.tbd").read_text()
    text = re.sub(r",\s*arm64e\.\w+-\w+", "", text).replace("arm64e-", "arm64-")
    (SDK / "lib" / "libSystem.tbd").write_text(text)


def build_archives(python):
    """liblz4.a and libzstd.a from the source packages."""
    for package, version in SOURCES.items():
        folder = SDK / "sources" / f"{package}-{version}"
        if not folder.exists():
            run([python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:", "-d", SDK / "sources",
                 f"{package}=={version}"])
            with tarfile.open(SDK / "sources" / f"{package}-{version}.tar.gz") as archive:
                archive.extractall(SDK / "sources")
        for header in HEADERS[package]:
            shutil.copy(folder / header, SDK / "include")
        name, source = ARCHIVES[package]
        object_file = SDK / "sources" / (package + ".o")
        run([SDK / "bin" / "cc", "-O2", "-fvisibility=hidden", "-DZSTDLIB_VISIBLE=", "-c", folder / source, "-o", object_file])
        run([tool("llvm-ar-22", "llvm-ar"), "--format=darwin", "rcs", SDK / "lib" / name, object_file])


def link_headers_of_here():
    for name in HEADERS_OF_HERE:
        source, link = pathlib.Path("/usr/include") / name, SDK / "include" / name
        if source.exists() and not link.is_symlink():
            link.symlink_to(source)


def make_sdk():
    """Makes SDK unless it is there, whole."""
    python = venv_python("macos", BUILD / "tools")
    paths = subprocess.run([python, "-c", "import ziglang; print(ziglang.__path__[0])"], capture_output=True, text=True, check=True)
    zig = pathlib.Path(paths.stdout.strip()) / "zig"
    done = SDK / "done"
    stamp = f"{zig} {TARGET} {SOURCES} {pathlib.Path(__file__).stat().st_mtime_ns}"
    if done.exists() and done.read_text() == stamp:
        return
    for name in ("include", "lib", "sources"):
        (SDK / name).mkdir(parents=True, exist_ok=True)
    write_compilers(zig)
    copy_cpp_library()
    write_system_stub(zig)
    build_archives(python)
    link_headers_of_here()
    done.write_text(stamp)


def build():
    options = [f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/cmake/macos-arm64.cmake", f"-DCUPOLA_MACOS_SDK={SDK}", "-DCUPOLA_COMPILER=OFF", "-DCMAKE_BUILD_TYPE=Release"]
    run(["cmake", "-G", "Ninja", "-S", ROOT, "-B", BUILD, *options])
    run(["cmake", "--build", BUILD])


def main():
    os.chdir(ROOT)
    make_sdk()
    build()


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"macos: {' '.join(error.cmd)}: exit status {error.returncode}")
