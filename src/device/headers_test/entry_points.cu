// Types of pointers to the driver's functions.
#include <cudaTypedefs.h>
int main() {
  PFN_cuMemAlloc_v3020 allocate = cuMemAlloc;
  PFN_cuMemcpy_v4000_ptds copy = nullptr;
  PFN_cuTensorMapEncodeTiled_v12000 encode = cuTensorMapEncodeTiled;
  return allocate && encode && !copy ? 0 : 1;
}
