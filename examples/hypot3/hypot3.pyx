"""hypot3(x, y, z), the length of the vector (x, y, z): an op that NumPy does not have."""
from libc.math cimport sqrt

from tensoriter cimport loop_function, npy_intp

from tensoriter import Op


cdef void loop(char** args, const npy_intp* dimensions, const npy_intp* steps, void* data) noexcept nogil:
    cdef double x, y, z
    cdef npy_intp i
    for i in range(dimensions[0]):
        x = (<double*>(args[0] + i * steps[0]))[0]
        y = (<double*>(args[1] + i * steps[1]))[0]
        z = (<double*>(args[2] + i * steps[2]))[0]
        (<double*>(args[3] + i * steps[3]))[0] = sqrt(x * x + y * y + z * z)


cdef loop_function pointer = &loop      # the compiler checks the signature
hypot3 = Op.from_loops("hypot3", {("d", "d", "d", "d"): <size_t>pointer})
