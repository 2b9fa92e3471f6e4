"""Landlock by plain system calls: after `restrict`, this thread and its later ones open only what was listed.

Source of numbers: Linux `include/uapi/linux/landlock.h`, ABI 1 to 7. It decides nothing about what is listed.
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

# The three numbers are the same on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_RULE_PATH_BENEATH = 1
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_FILE, _MAKE_REG, _TRUNCATE = 1 << 5, 1 << 8, 1 << 14
_BITS_BY_ABI = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # handled file-system rights; later ABIs add none
_NETWORK = 0b11  # bind and connect over TCP, from ABI 4
_SCOPES = 0b11  # abstract sockets and signals, from ABI 6

READ = _READ_FILE | _READ_DIR | _EXECUTE
WRITE = READ | _WRITE_FILE | _REMOVE_FILE | _MAKE_REG | _TRUNCATE
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE


class _Ruleset(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def abi() -> int:
    """Version that the kernel offers; 0 where there is none."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, int(_libc().syscall(_CREATE_RULESET, None, 0, 1)))


def restrict(*, readable: Iterable[Path], writable: Iterable[Path], descriptors: Iterable[int]) -> bool:
    """Confine this thread: read below `readable`, also write below `writable`, re-open the given `descriptors`.

    Paths that do not exist are passed over. False where the kernel has no Landlock. Needs no_new_privs.
    """
    version = abi()
    if version == 0:
        return False
    handled = (1 << _BITS_BY_ABI.get(version, 16)) - 1
    ruleset = _Ruleset(handled, _NETWORK if version >= 4 else 0, _SCOPES if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    libc = _libc()
    rules = libc.syscall(_CREATE_RULESET, ctypes.byref(ruleset), size, 0)
    _check(rules)
    try:
        for allowed, paths in ((READ, readable), (WRITE, writable)):
            for path in paths:
                _allow_path(libc, rules, path, allowed & handled)
        for descriptor in descriptors:
            _allow(libc, rules, descriptor, READ & _FILE_RIGHTS)
        _check(libc.syscall(_RESTRICT_SELF, rules, 0))
    finally:
        os.close(rules)
    return True


def _allow_path(libc: ctypes.CDLL, rules: int, path: Path, allowed: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        directory = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        _allow(libc, rules, descriptor, allowed if directory else allowed & _FILE_RIGHTS)
    finally:
        os.close(descriptor)


def _allow(libc: ctypes.CDLL, rules: int, descriptor: int, allowed: int) -> None:
    rule = _PathBeneath(allowed, descriptor)
    _check(libc.syscall(_ADD_RULE, rules, _RULE_PATH_BENEATH, ctypes.byref(rule), 0))


def _check(result: int) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"landlock: {os.strerror(number)}")
