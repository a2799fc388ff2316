"""What Cython gets: the signature of loops, and the iterator (tests/test_cimport.py runs one).

A module that cimports this needs `numpy.get_include()` and `tensoriter.get_include()` as include_dirs.
"""
from tensoriter.core.arguments cimport Arguments, parse_arguments
from tensoriter.core.array_api cimport npy_intp
from tensoriter.core.dtypes cimport LoopTable
from tensoriter.core.for_each cimport for_each
from tensoriter.core.iterator cimport Iterator, set_up
from tensoriter.core.loops.table cimport loop_function
from tensoriter.core.prepare cimport clear, prepare, write_back
