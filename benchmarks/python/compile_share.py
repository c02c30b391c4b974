"""What of a first launch is Numba's own work: from Python to its LLVM IR, before NVVM, linking and loading."""

import time

from numba.cuda import dispatcher


class Share:
    """Counts the seconds that Numba spends in its own compiler from now on. One thread."""

    def __init__(self):
        self.seconds = 0.0
        self.depth_ = 0
        self.inner_ = dispatcher.compile_cuda
        dispatcher.compile_cuda = self.timed_

    def timed_(self, *arguments, **options):
        self.depth_ += 1
        start = time.perf_counter()
        try:
            return self.inner_(*arguments, **options)
        finally:
            self.depth_ -= 1
            if self.depth_ == 0:
                self.seconds += time.perf_counter() - start
