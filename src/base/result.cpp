#include "base/result.h"

namespace cupola {

const char* name_of(ErrorCode code) {
  switch (code) {
#define CUPOLA_ERROR(name, number, text) \
  case ErrorCode::name:                  \
    return #name;
#include "base/errors.def"
#undef CUPOLA_ERROR
  }
  return "Unknown";
}

}  // namespace cupola
