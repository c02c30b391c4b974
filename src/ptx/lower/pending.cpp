#include "ptx/lower/emission.h"

// Instructions that are still to be written.

namespace cupola::ptx::emit {

#define PENDING(name)      \
  void name(Emission& e) { \
    unsupported(e);        \
  }
PENDING(surface_load)
PENDING(surface_reduce)
PENDING(surface_store)
PENDING(texture_fetch)
PENDING(texture_gather)
PENDING(texture_query)

}  // namespace cupola::ptx::emit
