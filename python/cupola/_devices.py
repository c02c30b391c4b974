"""The devices that programs see."""

from __future__ import annotations

from dataclasses import dataclass

from ._installation import driver

# "CUDA Driver API, CUdevice_attribute".
_MAX_THREADS_PER_BLOCK, _MULTIPROCESSORS, _INTEGRATED, _MAJOR, _MINOR, _PAGEABLE = 1, 16, 18, 75, 76, 88


@dataclass(frozen=True)
class Device:
    """A device, by its number."""

    index: int
    name: str
    compute_capability: tuple[int, int]
    multiprocessors: int
    memory: int  #: bytes
    max_threads_per_block: int
    reads_host_memory: bool  #: kernels may be handed the address of any memory of the process

    def attribute(self, number: int) -> int:
        """An attribute by CUDA's number (CUdevice_attribute)."""
        return driver().device_attribute(self.index, number)

    def use(self) -> None:
        """From now on this thread works with this device, after resets too. Device 0 without it."""
        driver().use_device(self.index)

    def reset(self) -> None:
        """Ends everything on this device: buffers, kernels and streams made before are no longer usable. Needed after a kernel's
        fault, which breaks the device's context for good."""
        driver().reset_device(self.index)


def _device(index: int) -> Device:
    calls = driver()
    attribute = lambda number: calls.device_attribute(index, number)  # noqa: E731
    return Device(index, calls.device_name(index), (attribute(_MAJOR), attribute(_MINOR)), attribute(_MULTIPROCESSORS),
                  calls.device_memory(index), attribute(_MAX_THREADS_PER_BLOCK), bool(attribute(_PAGEABLE)))


def devices() -> list[Device]:
    """All devices that programs see (CUDA_VISIBLE_DEVICES says which)."""
    return [_device(index) for index in range(driver().device_count())]


def this_device() -> Device:
    """The one that this thread works with."""
    return _device(driver().context()[0])


def synchronize() -> None:
    """Waits for everything on this thread's device. Raises CudaError for what a kernel did wrong."""
    driver().synchronize()


def memory_info() -> tuple[int, int]:
    """Free and total bytes of this thread's device."""
    return driver().memory_info()
