from . import demos as demos, env as env, numba as numba, pipeline as pipeline, streams as streams
from ._buffer import Buffer as Buffer, pinned as pinned
from ._devices import Device as Device, devices as devices, memory_info as memory_info, synchronize as synchronize
from ._errors import CompileError as CompileError, CudaError as CudaError
from ._jit import Kernel as Kernel, jit as jit
from .streams import Event as Event, Stream as Stream

__version__: str

def patch() -> None: ...
