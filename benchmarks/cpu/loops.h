#pragma once

// The OpenMP loops of each family of cases: a table of functions which is filled three times. NAME_natural.cpp is what
// a good engineer writes first, and is compiled by g++ and by clang++, the better of which counts; NAME_expert.cpp is
// blocked and vectorised by hand. All are built with -O3 -march=native -fno-math-errno and without -ffast-math.

namespace bench {

/// The three tables of a family; null where this build has no compiler for one.
template <typename Loops>
struct Baselines {
  const Loops *gcc, *clang, *expert;
};

template <typename Loops>
Baselines<Loops> baselines();

}  // namespace bench

#ifdef BENCH_NO_CLANG_OPENMP
#define BENCH_BY_CLANG(name) nullptr
#else
#define BENCH_BY_CLANG(name) &by_clang::name
#endif

/// Declares the tables of a family, within namespace bench. BENCH_BY names the namespace that a natural source fills.
#define BENCH_LOOPS(Type, name)                                  \
  namespace by_gcc {                                             \
  extern const Type name;                                        \
  }                                                              \
  namespace by_clang {                                           \
  extern const Type name;                                        \
  }                                                              \
  namespace expert {                                             \
  extern const Type name;                                        \
  }                                                              \
  template <>                                                    \
  inline Baselines<Type> baselines<Type>() {                     \
    return {&by_gcc::name, BENCH_BY_CLANG(name), &expert::name}; \
  }
