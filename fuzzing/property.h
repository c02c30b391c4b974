#pragma once

#include <cstdio>
#include <cstdlib>

/// Ends the process, and with it the fuzzing, when a property that must hold does not.
#define FUZZ_CHECK(condition)                                              \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                        \
    }                                                                      \
  } while (0)
