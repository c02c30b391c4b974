#pragma once

#include "base/result.h"
#include "cupolac/options.h"

namespace cupola::cupolac {

/// The device link, --link-units: gathers the device units in the objects and static libraries of the command line,
/// links them, and writes the fat binary `options.unit`; where an output is named, also the C source that embeds it and
/// registers it with libcudart. Libraries named with -l are looked for in the folders of -L; shared ones and those in
/// the system's folders have no units. Without any unit the source is empty.
///
/// What an earlier device link has linked (-dlink, in an object or a static library) stays linked there. All other
/// units of a static library are linked, whether the program uses them or not. Errors: FileNotFound; InvalidValue for a
/// file that is none of a link, and where a fat binary alone is asked for and there is no device code; NoBinaryForGpu
/// for a fat binary without kir and PTX; InvalidImage (a damaged file, or a symbol that several units define or none).
Result<> link_units(const Options& options);

}  // namespace cupola::cupolac
