"""Arrays as another package would hand them over."""


class Foreign:
    """A buffer's memory, with what `changes` says of it."""

    def __init__(self, buffer, **changes):
        self.__cuda_array_interface__ = {**buffer.__cuda_array_interface__, **changes}
