"""OpenCL in the children of Python's multiprocessing, forked and spawned, while the parent uses it, too."""
import multiprocessing
import sys

import numpy as np
import pyopencl as cl


def compute(number):
    context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
    queue = cl.CommandQueue(context)
    values = np.arange(1000, dtype=np.int32)
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=values)
    program = cl.Program(context, "__kernel void add(__global int *x, int k) { x[get_global_id(0)] += k; }").build()
    program.add(queue, values.shape, None, buffer, np.int32(number))
    result = np.empty_like(values)
    cl.enqueue_copy(queue, result, buffer)
    return bool((result == values + number).all())


def main():
    for method in sys.argv[1:]:
        with multiprocessing.get_context(method).Pool(3) as pool:
            assert all(pool.map(compute, range(6))), method
    assert compute(1)
    # A child that is forked from a process with a live session cannot use that; it can still do everything else.
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(abs, [-1, -2]) == [1, 2]
    assert compute(2)
    print("all right")


if __name__ == "__main__":
    main()
