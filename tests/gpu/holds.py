"""Holds memory of every device that CUDA shows to this process, by the driver's own interface: no toolkit, no
framework.

Prints a line for each, `device UUID`, then `up`, and waits to be told to stop; computes on the first meanwhile."""

import ctypes
import signal
import sys
import uuid

MEMORY = 256 << 20

cuda = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    code = getattr(cuda, name)(*arguments)
    if code != 0:
        sys.exit(f"{name}: CUDA error {code}")


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
call("cuInit", 0)
count = ctypes.c_int()
call("cuDeviceGetCount", ctypes.byref(count))
addresses = []
for index in range(count.value):
    device, context, address, name = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64(), (ctypes.c_ubyte * 16)()
    call("cuDeviceGet", ctypes.byref(device), index)
    call("cuDeviceGetUuid", ctypes.byref(name), device)
    call("cuCtxCreate_v2", ctypes.byref(context), 0, device)
    call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(MEMORY))
    addresses.append(address)
    print(f"device GPU-{uuid.UUID(bytes=bytes(name))}", flush=True)
print("up", flush=True)
while True:  # the last context is the current one: its memory is set over and over, so that utilization is seen
    call("cuMemsetD32_v2", addresses[-1], ctypes.c_uint(1), ctypes.c_size_t(MEMORY // 4))
    call("cuCtxSynchronize")
