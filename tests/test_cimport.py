"""The iterator from Cython: a module is built against the installed package and run."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

import tensoriter

SOURCE = '''
from cpython.object cimport PyObject

from tensoriter.core.arguments cimport Arguments, parse_arguments
from tensoriter.core.dtypes cimport LoopTable
from tensoriter.core.for_each cimport for_each
from tensoriter.core.iterator cimport Iterator, set_up
from tensoriter.core.prepare cimport clear, prepare


def apply(LoopTable table, x1, x2, out):
    """Runs the table's loop over x1 and x2 into out; False where the call would be NumPy's."""
    cdef Iterator it
    cdef Arguments arguments
    cdef PyObject* operands[3]
    operands[0], operands[1], operands[2] = <PyObject*>x1, <PyObject*>x2, <PyObject*>out
    arguments.nin = 2
    arguments.nout = 1
    if not parse_arguments(&arguments, operands, 3, NULL) or not set_up(&it, &arguments, table):
        return False
    try:
        prepare(&it, &arguments)
        with nogil:
            for_each(&it, NULL)
    finally:
        clear(&it)
    return True
'''

SETUP = '''
import sys
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

package = Path(sys.argv.pop())
headers = [numpy.get_include(), str(package / "core"), str(package / "core" / "loops")]
extension = Extension("user", ["user.pyx"], include_dirs=headers)
setup(name="user", ext_modules=cythonize([extension], language_level=3, include_path=[str(package.parent)]))
'''

PROGRAM = '''
import numpy as np, tensoriter, user

x, row, out = np.arange(12.0).reshape(3, 4), np.arange(4, dtype=">i2"), np.zeros((3, 4))
assert user.apply(tensoriter.add, x, row, out)
assert not user.apply(tensoriter.add, x, [1, 2, 3, 4], out)
print(out.tolist())
'''


def test_iterator_from_cython(tmp_path):
    (tmp_path / "user.pyx").write_text(SOURCE)
    (tmp_path / "setup.py").write_text(SETUP)
    package = Path(tensoriter.__file__).parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(package.parent)])}

    def run(*command):
        return subprocess.run([sys.executable, *command], cwd=tmp_path, env=environment,
                              capture_output=True, text=True)

    built = run("setup.py", "-q", "build_ext", "--inplace", str(package))
    assert built.returncode == 0, built.stdout + built.stderr
    ran = run("-c", PROGRAM)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == str((np.arange(12.0).reshape(3, 4) + np.arange(4)).tolist())
