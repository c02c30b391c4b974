"""fibres.py BUILD: runs the change between two stacks (src/backend/cpu/run/fibre_switch_aarch64.S) out of BUILD/lib/libcuda.dylib in an emulator of
AArch64, and looks at every register that a call must keep. Prints `case NAME: ok|FAILED`.
"""

import pathlib
import struct
import sys

import macho
import unicorn
from unicorn import arm64_const as names

CODE, STACKS, STOP = 0x1_0000_0000, 0x2_0000_0000, 0x3_0000_0000
STACK_BYTES = 0x10000
KEPT = [getattr(names, f"UC_ARM64_REG_X{number}") for number in range(19, 30)] + [getattr(names, f"UC_ARM64_REG_D{number}") for number in range(8, 16)]
X0, X1, X2, X3, LR, SP, PC = (getattr(names, f"UC_ARM64_REG_{name}") for name in ("X0", "X1", "X2", "X3", "X30", "SP", "PC"))
SYMTAB = 2


def symbols_of(data):
    """Addresses by name, of the symbol table."""
    place, found = 32, {}
    for _ in range(struct.unpack_from("<I", data, 16)[0]):
        command, size = struct.unpack_from("<2I", data, place)
        if command == SYMTAB:
            table, count, strings, _ = struct.unpack_from("<4I", data, place + 8)
            for row in range(count):
                name, _, _, _, value = struct.unpack_from("<IBBHQ", data, table + 16 * row)
                found[macho.c_string(data, strings + name)] = value
        place += size
    return found


class Machine:
    """Two stacks, and the library's code."""

    def __init__(self, data):
        symbols = symbols_of(data)
        self.make, self.jump, self.call_on = (CODE + symbols[f"_cupola_{what}_fcontext"] for what in ("make", "jump", "call"))
        self.cpu = unicorn.Uc(unicorn.UC_ARCH_ARM64, unicorn.UC_MODE_ARM)
        address, memory, offset, size = macho.MachO(data).segments["__TEXT"]
        self.cpu.mem_map(CODE + address, memory)
        self.cpu.mem_write(CODE + address, data[offset:offset + size])
        self.cpu.mem_map(STACKS, 2 * STACK_BYTES)
        self.cpu.mem_map(STOP, 0x4000)

    def read(self, register):
        return self.cpu.reg_read(register)

    def write(self, values):
        for register, value in values.items():
            self.cpu.reg_write(register, value)

    def call(self, function, arguments, back, until):
        """Calls, and whether it comes to the address `until`; `back` is the return address."""
        self.write({**dict(zip((X0, X1, X2, X3), arguments)), LR: back})
        return self.go(function, until)

    def go(self, start, until):
        try:
            self.cpu.emu_start(start, until, count=1000)
        except unicorn.UcError:
            return False
        return self.read(PC) == until

    def word(self, address):
        return struct.unpack("<Q", self.cpu.mem_read(address, 8))[0]


def kept(seed):
    return {register: seed << 32 | place for place, register in enumerate(KEPT, 1)}


def stack_top(stack):
    return STACKS + (stack + 1) * STACK_BYTES


def holds(machine, seed):
    return all(machine.read(register) == value for register, value in kept(seed).items())


def steps_of_call(machine):
    """Of a function that is called on another stack: (what, whether it held), in order."""
    entry, back, inside = STOP, STOP + 0x100, STOP + 0x200
    home, place = stack_top(0) - 0x100, stack_top(0) - 0x80
    for seed, returns in ((21, True), (22, False)):
        machine.write({SP: home, **kept(seed)})
        yield "a call comes to the entry", machine.call(machine.call_on, (stack_top(1) - 8, entry, 0x4321, place), back, entry)
        left, fibre = machine.word(place), machine.read(SP)
        yield "with its argument, and says what was left", machine.read(X0) == 0x4321 and home - 0x200 < left < home
        yield "on the other stack, aligned", fibre % 16 == 0 and STACKS + STACK_BYTES < fibre < stack_top(1)
        if returns:
            yield "its return goes on behind the call", machine.go(machine.read(LR), back)
            yield "with two nulls", machine.read(X0) == 0 and machine.read(X1) == 0
        else:
            machine.write(kept(30))
            yield "a jump goes on behind the call", machine.call(machine.jump, (left, 0x8765), inside, back)
            yield "with the data and the stack that was left", machine.read(X1) == 0x8765 and STACKS + STACK_BYTES < machine.read(X0) < fibre
        yield "and finds every register and the stack as they were", holds(machine, seed) and machine.read(SP) == home


def steps(machine):
    """(what, whether it held), in order."""
    yield from steps_of_jumps(machine)
    yield from steps_of_call(machine)


def steps_of_jumps(machine):
    """(what, whether it held), in order."""
    entry, first, second = STOP, STOP + 0x100, STOP + 0x200
    home = stack_top(0) - 0x100
    machine.write({SP: home})
    yield "a stack is made", machine.call(machine.make, (stack_top(1) - 8, entry), first, first)
    fibre = machine.read(X0)
    yield "it lies on its memory", STACKS + STACK_BYTES < fibre < stack_top(1) and fibre % 16 == 0
    machine.write(kept(7))
    yield "the first jump comes to the entry", machine.call(machine.jump, (fibre, 0x1234), first, entry)
    left = machine.read(X0)
    yield "with the data and with the stack that was left", machine.read(X1) == 0x1234 and home - 0x200 < left < home
    yield "on its own stack, aligned, where backtraces end", machine.read(SP) % 16 == 0 and fibre < machine.read(SP) <= stack_top(1) and machine.read(LR) == 0
    inner = machine.read(SP)
    machine.write(kept(9))
    yield "a jump back comes to where the first was called", machine.call(machine.jump, (left, 0x5678), second, first)
    yield "and finds every register as it was", holds(machine, 7)
    yield "and the stack", machine.read(SP) == home and machine.read(X1) == 0x5678
    fibre = machine.read(X0)
    machine.write(kept(11))
    yield "another jump goes on where the second was called", machine.call(machine.jump, (fibre, 1), first, second)
    yield "with its registers", holds(machine, 9) and machine.read(SP) == inner


def main():
    data = (pathlib.Path(sys.argv[1]) / "lib" / "libcuda.dylib").read_bytes()
    failed = [what for what, held in steps(Machine(data)) if not held]
    print(f"case fibres: {'FAILED' if failed else 'ok'}")
    for what in failed:
        print(f"  not so: {what}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
