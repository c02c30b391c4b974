// What went wrong, in words. "CUDA Runtime API, Error Log Management": the driver keeps it.

#include "cuda/cudart/api.h"
#include "cuda/cudart/public.h"

using namespace cupola;
using namespace cupola::cudart;

cudaError_t cudaLogsRegisterCallback(cudaLogsCallback_t callbackFunc, void* userData,
                                     cudaLogsCallbackHandle* callback_out) {
  return with_driver([&](const Driver& cu) {
    return check(cu.cuLogsRegisterCallback(reinterpret_cast<CUlogsCallback>(callbackFunc), userData, callback_out));
  });
}

cudaError_t cudaLogsUnregisterCallback(cudaLogsCallbackHandle callback) {
  return with_driver([&](const Driver& cu) { return check(cu.cuLogsUnregisterCallback(callback)); });
}

cudaError_t cudaLogsCurrent(cudaLogIterator* iterator_out, unsigned int flags) {
  return with_driver([&](const Driver& cu) { return check(cu.cuLogsCurrent(iterator_out, flags)); });
}

cudaError_t cudaLogsDumpToFile(cudaLogIterator* iterator, const char* pathToFile, unsigned int flags) {
  return with_driver([&](const Driver& cu) { return check(cu.cuLogsDumpToFile(iterator, pathToFile, flags)); });
}

cudaError_t cudaLogsDumpToMemory(cudaLogIterator* iterator, char* buffer, size_t* size, unsigned int flags) {
  return with_driver([&](const Driver& cu) { return check(cu.cuLogsDumpToMemory(iterator, buffer, size, flags)); });
}
