#pragma once

// Where the static library looks for libcuda when the environment does not say. In an object of its own, because an
// installation replaces it (cmake/install.cmake).

#ifdef __cplusplus
extern "C"
#else
extern
#endif
    const char cupola_default_library_folder[];
