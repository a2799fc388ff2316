"""The measured process: it runs one subject's loop and marks where the collector has to look.

    python measured.py {callgrind MARKS | perf CONTROL,ACKNOWLEDGE,SECONDS} SUBJECT N DTYPE

It says on stdout what it did, as JSON. It runs under any Python from 3.6 on, by its path, with what is
installed there; a subject whose library is not there ends it with {"absent": why}.
"""

import ctypes
import gc
import json
import os
import sys
from functools import partial
from time import process_time

WARM_UP, SHORT, LONG = 300, 500, 1500  # calls; int objects above 256 are no longer cached
BLOCKS = 9  # timed, of which the fastest counts: what an add takes when nothing disturbs it


class Marks:
    """Tells callgrind where a length begins and ends, by client requests or, without, by getppid.

    `marks` is the compiled client_requests.c, or "" where it could not be compiled: then callgrind has
    been counting all the time, and writes a dump before each getppid, a function that nothing else calls.
    """

    def __init__(self, marks):
        self._library = ctypes.CDLL(marks) if marks else None

    def start(self):
        """Count from here on."""
        if self._library:
            self._library.start()

    def mark(self):
        """Write down what was counted, and count from zero."""
        if self._library:
            self._library.mark()
        else:
            os.getppid()

    def run(self, loop):
        """Leave two dumps, of SHORT and of LONG calls: their difference knows no begin and no end.

        Called from C, a loop runs in a frame of the interpreter that callgrind has seen begin: else it
        would not know in which function it is.
        """
        loop = partial(loop)
        self.start()
        loop(WARM_UP)
        self.mark()
        loop(SHORT)
        self.mark()
        loop(LONG)
        self.mark()


def fill_pools():
    """Objects that fill CPython's partly used memory pools, of which each 16 bytes have their own.

    Taking the last block of a pool and giving it back costs more instructions than in mid-pool. How
    full the imports leave the pools depends on everything; after this, loops start on new pools.
    """
    each = range(4000)
    overhead = b"".__sizeof__()
    held = [object() for _ in each]  # 16 bytes
    held += [1000000 + number for number in each]  # 32 bytes
    held += [bytes(size - overhead) for size in range(48, 513, 16) for _ in each]
    return held


def sample(loop, control, acknowledge, seconds):
    """Time the loop, then run it for so many seconds while perf looks: ns per add, and adds."""
    adds = 100
    while time(loop, adds) < 0.02:
        adds *= 2
    per_add = min(time(loop, adds) for _ in range(BLOCKS)) / adds
    adds = max(1, round(float(seconds) / per_add))
    with open(control, "w") as commands, open(acknowledge) as answers:
        tell(commands, answers, "enable")
        loop(adds)
        tell(commands, answers, "disable")
    return {"ns_per_add": per_add * 1e9, "adds": adds}


def tell(commands, answers, command):
    """Give perf a command and wait until it has carried it out."""
    commands.write(command + "\n")
    commands.flush()
    answers.read(4)  # "ack\n"


def time(loop, adds):
    """The seconds of processor time that so many adds take."""
    start = process_time()
    loop(adds)
    return process_time() - start


def load_subjects():
    """The names in subjects.py, as a program of the user's: a capture skips tensoriter's own files."""
    names = {"__name__": "subjects"}
    with open(os.path.join(os.path.dirname(__file__), "subjects.py")) as file:
        exec(compile(file.read(), "subjects.py", "exec"), names)
    return names


def main(collector, where, name, n, dtype):
    """Measure one subject; the facts to print."""
    sys.path[0] = os.getcwd()  # not this folder, whose names are nobody's business; --mine's module is there
    subjects = load_subjects()
    try:
        loop = subjects["make_loop"](name, int(n), dtype)
        loop(WARM_UP)
        version = subjects["version_of"](name)
    except Exception as error:
        return {"absent": f"{type(error).__name__}: {error}"}
    gc.collect()
    gc.disable()
    if collector == "perf":
        facts = sample(loop, *where.split(","))
    else:
        held = fill_pools()  # noqa: F841
        Marks(where).run(loop)
        facts = {}
    facts["version"] = version
    return facts


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])), flush=True)
    os._exit(0)  # the interpreter's clearing up is nobody's subject
