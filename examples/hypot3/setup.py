import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

import tensoriter

headers = [numpy.get_include(), tensoriter.get_include()]
setup(ext_modules=cythonize([Extension("hypot3", ["hypot3.pyx"], include_dirs=headers)], language_level=3))
