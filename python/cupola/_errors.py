"""Exceptions of the package."""


class CudaError(RuntimeError):
    """A call of the driver that failed. `code` and `name` are CUDA's: 2, "CUDA_ERROR_OUT_OF_MEMORY"."""

    def __init__(self, message: str, code: int = 999, name: str = "CUDA_ERROR_UNKNOWN"):
        super().__init__(message)
        self.code = code
        self.name = name

    def __reduce__(self):
        return type(self), (str(self), self.code, self.name)


class CompileError(ValueError):
    """Source that does not compile. `log` is the compiler's."""

    def __init__(self, message: str, log: str = ""):
        super().__init__(message)
        self.log = log

    def __reduce__(self):
        return type(self), (str(self), self.log)
