"""A seccomp filter by plain system calls: no network, no new processes or programs, no reaching into other processes.

Numbers: Linux `asm/unistd_64.h` (x86_64) and `asm-generic/unistd.h` (aarch64). Everything not listed stays allowed; the
list is what a compiler and runtime of numbers never needs and an intruder does.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from dataclasses import dataclass

_SET_MODE_FILTER, _FLAG_TSYNC = 1, 1
_RET_ALLOW, _RET_ERRNO, _RET_KILL = 0x7FFF0000, 0x00050000, 0x80000000
_LOAD, _JUMP_EQUAL, _JUMP_SET, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_OFFSET_NUMBER, _OFFSET_ARCHITECTURE, _OFFSET_ARGUMENT_0 = 0, 4, 16  # struct seccomp_data, little endian
_CLONE_THREAD = 0x00010000
_X32_BIT = 0x40000000
# Calls younger than this table are answered "not implemented", as an older kernel would.
_FIRST_UNKNOWN = 463


@dataclass(frozen=True)
class _Table:
    audit: int
    seccomp: int
    clone: int
    tgkill: int
    denied: tuple[int, ...]


# fmt: off
_X86_64 = _Table(
    audit=0xC000003E, seccomp=317, clone=56, tgkill=234,
    denied=(
        41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 288, 299, 307,  # sockets
        57, 58, 59, 322,                                                          # fork, vfork, execve, execveat
        62, 129, 200, 297, 424, 434, 438,                                         # signals to others, pidfds
        101, 310, 311, 312, 440,                                                  # ptrace, process_vm_*, kcmp
        155, 161, 165, 166, 167, 168, 169, 170, 171, 272, 308, 428, 429, 430, 431, 432, 433, 442,  # mounts, namespaces
        175, 176, 246, 313, 320, 321,                                             # modules, kexec, bpf
        298, 300, 323, 425, 426, 427,                                             # perf, fanotify, faults, io_uring
        248, 249, 250,                                                            # keys
        303, 304, 133, 259, 163, 179, 103, 135,                                   # file handles, mknod, acct, quota
        154, 159, 164, 172, 173, 227, 305,                                        # ldt, clocks, ports
        29, 64, 68, 240,                                                          # System V and POSIX queues
    ),
)
_AARCH64 = _Table(
    audit=0xC00000B7, seccomp=277, clone=220, tgkill=131,
    denied=(
        198, 199, 200, 201, 202, 203, 204, 205, 206, 207, 208, 209, 210, 211, 212, 242, 243, 269,
        221, 281,
        129, 130, 138, 240, 424, 434, 438,
        117, 270, 271, 272, 440,
        39, 40, 41, 51, 97, 142, 161, 162, 224, 225, 268, 428, 429, 430, 431, 432, 433, 442,
        104, 105, 106, 273, 280, 294,
        241, 262, 282, 425, 426, 427,
        217, 218, 219,
        33, 60, 89, 92, 116, 264, 265,
        112, 170, 171, 266,
        180, 186, 190, 194,
    ),
)
# fmt: on
_TABLES = {"x86_64": _X86_64, "aarch64": _AARCH64}
_CLONE3 = 435  # the same everywhere; its flags lie in memory, so it is refused and the C library falls back to clone


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def install() -> bool:
    """Put the filter on every thread of this process. False where the system has no such filter. Needs no_new_privs."""
    table = _TABLES.get(platform.machine()) if sys.platform.startswith("linux") else None
    if table is None:
        return False
    code = _program(table, os.getpid())
    program = _Program(len(code) // 8, code)
    libc = ctypes.CDLL(None, use_errno=True)
    result = libc.syscall(table.seccomp, _SET_MODE_FILTER, _FLAG_TSYNC, ctypes.byref(program))
    if result == 0:
        return True
    number = ctypes.get_errno()
    if result < 0 and number in (errno.ENOSYS, errno.EINVAL):
        return False
    raise OSError(number, f"seccomp: {os.strerror(number) if result < 0 else 'a thread could not be confined'}")


def _program(table: _Table, own_pid: int) -> bytes:
    refuse, missing = _RET_ERRNO | errno.EPERM, _RET_ERRNO | errno.ENOSYS
    lines = [
        (_LOAD, 0, 0, _OFFSET_ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, table.audit),
        (_RETURN, 0, 0, _RET_KILL),
        (_LOAD, 0, 0, _OFFSET_NUMBER),
        (_JUMP_AT_LEAST, 0, 1, _X32_BIT),
        (_RETURN, 0, 0, refuse),
        (_JUMP_AT_LEAST, 0, 1, _FIRST_UNKNOWN),
        (_RETURN, 0, 0, missing),
        (_JUMP_EQUAL, 0, 1, _CLONE3),
        (_RETURN, 0, 0, missing),
    ]
    for number in table.denied:
        lines += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, refuse)]
    lines += [  # threads of our own, yes; processes, no
        (_JUMP_EQUAL, 0, 4, table.clone),
        (_LOAD, 0, 0, _OFFSET_ARGUMENT_0),
        (_JUMP_SET, 1, 0, _CLONE_THREAD),
        (_RETURN, 0, 0, refuse),
        (_RETURN, 0, 0, _RET_ALLOW),
    ]
    lines += [  # abort() signals the process itself; nobody else is reached
        (_JUMP_EQUAL, 0, 3, table.tgkill),
        (_LOAD, 0, 0, _OFFSET_ARGUMENT_0),
        (_JUMP_EQUAL, 1, 0, own_pid),
        (_RETURN, 0, 0, refuse),
        (_RETURN, 0, 0, _RET_ALLOW),
    ]
    return b"".join(struct.pack("<HBBI", *line) for line in lines)
