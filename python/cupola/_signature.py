"""What a kernel takes: the types from the compiler, which knows typedefs, macros and templates; the names from the source, because nothing
that the compiler makes has them.

The compiler is asked by a table that is put behind the source: the kernel's type, taken apart by templates, as a constant of the module.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

VARIABLE = "cupola_jit_parameters"
FILE = "cupola.jit"  # what the compiler calls the lines that are put behind the source

_SCALARS = {"b": ("bool",), "c": ("char",), "i": ("signed char", "short", "int", "long", "long long"),
            "u": ("unsigned char", "unsigned short", "unsigned", "unsigned long", "unsigned long long"), "f": ("float", "double")}

_QUESTION = """
#line 1 "%(file)s"
namespace cupola_jit_signature {
struct Parameter { char kind, target, constant, unused; unsigned bytes, target_bytes; };
template <class T> constexpr char kind_of = __is_enum(T) ? 'i' : 'x';
%(kinds)s
template <class T> constexpr unsigned bytes_of = sizeof(T);
template <> constexpr unsigned bytes_of<void> = 0;
template <class T> struct Type { static constexpr Parameter row = {kind_of<T>, 0, 0, 0, sizeof(T), 0}; };
template <class T> struct Type<T&> { static constexpr Parameter row = {'r', 0, 0, 0, 0, 0}; };
template <class T> struct Type<T*> { static constexpr Parameter row = {'p', kind_of<T>, 0, 0, sizeof(T*), bytes_of<T>}; };
template <class T> struct Type<const T*> { static constexpr Parameter row = {'p', kind_of<T>, 1, 0, sizeof(T*), bytes_of<T>}; };
template <class T> struct Type<volatile T*> : Type<T*> {};
template <class T> struct Type<const volatile T*> : Type<const T*> {};
template <unsigned n> struct Table { unsigned count; Parameter rows[n + 1]; };
template <class R, class... A> constexpr Table<sizeof...(A)> table(R (*)(A...)) { return {sizeof...(A), {Type<A>::row..., {}}}; }
}
extern "C" { __constant__ auto %(variable)s = cupola_jit_signature::table(static_cast<decltype(&%(name)s)>(nullptr)); }
"""

_HEAD, _ROW = struct.Struct("<I"), struct.Struct("<ccBxII")


def question(name: str) -> str:
    """What to put behind the source."""
    kinds = "\n".join(f"template <> constexpr char kind_of<{type_}> = '{kind}';" for kind, types in _SCALARS.items() for type_ in types)
    return _QUESTION % {"file": FILE, "kinds": kinds, "variable": VARIABLE, "name": name}


@dataclass(frozen=True)
class Parameter:
    """A kernel's parameter. `kind` and `target` (of a pointer) are b bool, c char, i signed, u unsigned, f float, p pointer, x anything else;
    `name` is None where the source does not say it plainly."""

    name: str | None
    kind: str
    bytes: int
    target: str = ""
    target_bytes: int = 0
    constant: bool = False

    @property
    def type(self) -> str:
        if self.kind != "p":
            return _type_name(self.kind, self.bytes)
        return ("const " if self.constant else "") + (_type_name(self.target, self.target_bytes) if self.target_bytes else "void") + "*"


def _type_name(kind: str, size: int) -> str:
    names = {"b": "bool", "c": "char", "f": {4: "float", 8: "double"}.get(size, f"float{size * 8}_t"), "r": "a reference"}
    return names.get(kind) or {"i": {1: "signed char", 2: "short", 4: "int"}, "u": {1: "unsigned char", 2: "unsigned short", 4: "unsigned int"}}.get(
        kind, {}).get(size) or {"i": "long long", "u": "unsigned long long"}.get(kind) or f"a type of {size} bytes"


def answer(data: bytes, names: list[str] | None) -> list[Parameter]:
    """The parameters, from the bytes of the variable."""
    (count,) = _HEAD.unpack_from(data)
    names = names if names is not None and len(names) == count else None
    result = []
    for i in range(count):
        kind, target, constant, size, target_size = _ROW.unpack_from(data, _HEAD.size + i * _ROW.size)
        result.append(Parameter(names[i] if names else None, kind.decode(), size, target.decode().strip("\0"), target_size, bool(constant)))
    return result


_SKIPPED = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^[ \t]*\#(?:\\\n|[^\n])*""", re.S | re.M)
_OPEN, _CLOSE = "([{<", ")]}>"
_NOT_NAMES = {"const", "volatile", "int", "char", "short", "long", "float", "double", "unsigned", "signed", "bool", "void", "__restrict__", "restrict",
              "__restrict", "struct", "enum", "class", "typename", "auto"}


def _without_comments(source: str) -> str:
    return _SKIPPED.sub(" ", source)


def kernel_names(source: str) -> list[str]:
    """The kernels that the source defines, as written."""
    text = _without_comments(source)
    found = re.findall(r"__global__[^;{}()]*(?:\([^()]*\)[^;{}()]*?)??\b(\w+)\s*\(", text)
    return list(dict.fromkeys(name for name in found if name != "__launch_bounds__"))


def parameter_names(source: str, name: str) -> list[str] | None:
    """The names of the parameters of a kernel, in order; None where the source does not say them plainly (a macro, no names)."""
    text = _without_comments(source)
    plain = re.sub(r"<.*", "", name, flags=re.S).split("::")[-1].strip(" &")
    for match in re.finditer(rf"\b{re.escape(plain)}\s*\(", text):
        before = re.split(r"[;{}]", text[:match.start()])[-1]
        if "__global__" not in before:
            continue
        names = [_declared(part) for part in _parts(text, match.end())]
        if None not in names:
            return names
    return None


def _parts(text: str, begin: int) -> list[str]:
    """What lies between commas, up to the parenthesis that closes the one before `begin`."""
    depth, parts, last = 0, [], begin
    for at in range(begin, len(text)):
        letter = text[at]
        if depth == 0 and letter in ",)":
            parts.append(text[last:at].strip())
            last = at + 1
            if letter == ")":
                break
        elif letter in _OPEN:
            depth += 1
        elif letter in _CLOSE:
            depth -= 1
    return [] if parts in ([""], ["void"]) else parts


def _declared(parameter: str) -> str | None:
    """The name that a declaration like `const float* __restrict__ x`, `int n = 3` or `float (*f)(int)` declares."""
    parameter = re.split(r"(?<![=<>!])=", parameter)[0]
    if pointer := re.search(r"\(\s*[*&]+\s*(\w+)", parameter):
        return pointer.group(1)
    words = re.findall(r"[A-Za-z_]\w*|[*&>:]", re.sub(r"\[[^]]*\]", " ", parameter))
    if len(words) < 2 or not re.match(r"[A-Za-z_]", words[-1]) or words[-1] in _NOT_NAMES or words[-2] == ":":
        return None
    return words[-1]
