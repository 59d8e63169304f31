"""What people do with PyOpenCL: arrays, elementwise, reduction and scan kernels, local memory, events. Compared with numpy."""
import warnings

import numpy as np
import pyopencl as cl
import pyopencl.array
import pyopencl.clmath
from pyopencl.elementwise import ElementwiseKernel
from pyopencl.reduction import ReductionKernel
from pyopencl.scan import GenericScanKernel

warnings.simplefilter("ignore")  # PyOpenCL warns about compiler output, which is no error
COUNT = 100_003  # no multiple of any work-group size

context = cl.Context([cl.get_platforms()[0].get_devices()[0]])
queue = cl.CommandQueue(context, properties=cl.command_queue_properties.PROFILING_ENABLE)
random = np.random.default_rng(42)
a = random.standard_normal(COUNT).astype(np.float32)
b = random.standard_normal(COUNT).astype(np.float32)


def buffers():
    flags = cl.mem_flags
    source = cl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=a)
    target = cl.Buffer(context, flags.READ_WRITE, a.nbytes)
    result = np.zeros_like(a)
    cl.enqueue_copy(queue, target, source)
    cl.enqueue_copy(queue, result, target)
    np.testing.assert_array_equal(result, a)

    cl.enqueue_fill_buffer(queue, target, np.float32(7), 16, 64)
    cl.enqueue_copy(queue, result, target)
    expected = a.copy()
    expected[4:20] = 7
    np.testing.assert_array_equal(result, expected)

    part = target.get_sub_region(4096, 4096)
    cl.enqueue_copy(queue, part, b[:1024])
    cl.enqueue_copy(queue, result, target)
    expected[1024:2048] = b[:1024]
    np.testing.assert_array_equal(result, expected)

    mapped, _ = cl.enqueue_map_buffer(queue, target, cl.map_flags.READ | cl.map_flags.WRITE, 0, (COUNT,), np.float32)
    np.testing.assert_array_equal(mapped, expected)
    mapped[:10] = 1
    expected[:10] = 1
    mapped.base.release(queue)
    cl.enqueue_copy(queue, result, target)
    np.testing.assert_array_equal(result, expected)


def arrays():
    x = cl.array.to_device(queue, a)
    y = cl.array.to_device(queue, b)
    np.testing.assert_allclose((2 * x + y * y - 1).get(), 2 * a + b * b - 1, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal((x > y).get() != 0, a > b)
    np.testing.assert_allclose(cl.clmath.sin(x).get(), np.sin(a), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(cl.clmath.exp(x).get(), np.exp(a), rtol=1e-5)
    np.testing.assert_allclose(cl.clmath.sqrt(abs(x)).get(), np.sqrt(np.abs(a)), rtol=1e-6)
    np.testing.assert_allclose(cl.array.sum(x).get(), a.sum(dtype=np.float64), rtol=1e-3, atol=0.05)
    np.testing.assert_allclose(cl.array.dot(x, y).get(), np.dot(a.astype(np.float64), b), rtol=1e-3, atol=0.05)
    assert cl.array.max(x).get() == a.max() and cl.array.min(x).get() == a.min()
    np.testing.assert_array_equal(cl.array.arange(queue, 1000, dtype=np.int32).get(), np.arange(1000))


def elementwise():
    kernel = ElementwiseKernel(context, "float k, float *x, float *y, float *z", "z[i] = k * x[i] + y[i]", "axpy")
    x, y = cl.array.to_device(queue, a), cl.array.to_device(queue, b)
    z = cl.array.empty_like(x)
    kernel(np.float32(3), x, y, z)
    np.testing.assert_allclose(z.get(), 3 * a + b, rtol=1e-5, atol=1e-6)


def reduction():
    numbers = random.integers(-1000, 1000, COUNT).astype(np.int32)
    kernel = ReductionKernel(context, np.int64, neutral="0", reduce_expr="a+b", map_expr="(long)x[i]*x[i]", arguments="__global int *x")
    assert int(kernel(cl.array.to_device(queue, numbers)).get()) == int((numbers.astype(np.int64) ** 2).sum())


def scan():
    numbers = random.integers(-1000, 1000, COUNT).astype(np.int32)
    kernel = GenericScanKernel(
        context, np.int32, arguments="__global int *x, __global int *y", input_expr="x[i]", scan_expr="a+b", neutral="0", output_statement="y[i] = item;"
    )
    x = cl.array.to_device(queue, numbers)
    y = cl.array.empty_like(x)
    kernel(x, y)
    np.testing.assert_array_equal(y.get(), np.cumsum(numbers, dtype=np.int32))


def local_memory():
    """Matrix product with tiles in local memory; integers, so that the result must be exact."""
    size, tile = 96, 8
    source = f"""
    #define TILE {tile}
    __kernel void multiply(__global const int *a, __global const int *b, __global int *c, int n, __local int *dynamic) {{
      __local int tile_a[TILE][TILE];
      int x = get_global_id(0), y = get_global_id(1), lx = get_local_id(0), ly = get_local_id(1), sum = 0;
      for (int t = 0; t < n; t += TILE) {{
        tile_a[ly][lx] = a[y * n + t + lx];
        dynamic[ly * TILE + lx] = b[(t + ly) * n + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = 0; k < TILE; ++k) sum += tile_a[ly][k] * dynamic[k * TILE + lx];
        barrier(CLK_LOCAL_MEM_FENCE);
      }}
      c[y * n + x] = sum;
    }}"""
    m, n = (random.integers(-100, 100, (size, size)).astype(np.int32) for _ in range(2))
    flags = cl.mem_flags
    buffer_m, buffer_n = (cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=x) for x in (m, n))
    buffer_result = cl.Buffer(context, flags.WRITE_ONLY, m.nbytes)
    program = cl.Program(context, source).build()
    program.multiply(queue, (size, size), (tile, tile), buffer_m, buffer_n, buffer_result, np.int32(size), cl.LocalMemory(4 * tile * tile))
    result = np.empty_like(m)
    cl.enqueue_copy(queue, result, buffer_result)
    np.testing.assert_array_equal(result, m @ n)


def events():
    """A chain by events on an out-of-order queue, a user event that holds it, a callback, and times in order."""
    properties = cl.command_queue_properties
    free = cl.CommandQueue(context, properties=properties.OUT_OF_ORDER_EXEC_MODE_ENABLE | properties.PROFILING_ENABLE)
    program = cl.Program(context, "__kernel void advance(__global int *x, int k) { x[0] = x[0] * 3 + k; }").build()
    kernel = program.advance
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=np.array([1], np.int32))
    gate = cl.UserEvent(context)
    chain, expected = [gate], 1
    for k in range(10):
        kernel.set_args(buffer, np.int32(k))
        chain.append(cl.enqueue_nd_range_kernel(free, kernel, (1,), (1,), wait_for=[chain[-1]]))
        expected = expected * 3 + k
    called = []
    chain[-1].set_callback(cl.command_execution_status.COMPLETE, called.append)
    free.flush()
    assert chain[-1].command_execution_status != cl.command_execution_status.COMPLETE
    gate.set_status(cl.command_execution_status.COMPLETE)
    result = np.zeros(1, np.int32)
    cl.enqueue_copy(free, result, buffer, wait_for=[chain[-1]])
    free.finish()
    assert result[0] == expected, (result[0], expected)
    ends = []
    for event in chain[1:]:
        times = event.profile
        assert times.queued <= times.submit <= times.start <= times.end, (times.queued, times.submit, times.start, times.end)
        ends.append((times.start, times.end))
    assert all(before[1] <= after[0] for before, after in zip(ends, ends[1:])), "two links of a chain ran at the same time"


def build_log():
    try:
        cl.Program(context, "__kernel void broken(__global int *x) {\n  x[0] = not_there;\n}").build()
    except cl.RuntimeError as error:
        assert "not_there" in str(error) and ":2:" in str(error), str(error)
    else:
        raise AssertionError("a wrong program was built")


for step in (buffers, arrays, elementwise, reduction, scan, local_memory, events, build_log):
    step()
    print(f"{step.__name__} right", flush=True)
print("all PyOpenCL results are right")
