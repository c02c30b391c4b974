// Memory and events of other processes. "CUDA Driver API, Memory Management": cuIpcGetMemHandle and relatives.

#include "runtime/ipc.h"

#include <cstring>

#include "cuda/driver/api.h"

using namespace cupola;
using namespace cupola::driver;

CUresult cuIpcGetMemHandle(CUipcMemHandle* pHandle, CUdeviceptr dptr) {
  return api_call([&]() -> Result<> {
    TRY(given(pHandle, "pHandle"));
    TRY(const MemoryTicket ticket, export_memory(dptr));
    *pHandle = {};
    std::memcpy(pHandle, &ticket, sizeof ticket);
    return {};
  });
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* pdptr, CUipcMemHandle handle, unsigned int Flags) {
  return api_call([&]() -> Result<> {
    TRY(given(pdptr, "pdptr"));
    if (Flags & ~static_cast<unsigned>(CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS))
      return fail(ErrorCode::InvalidValue, "Flags are {:#x}; give CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS", Flags);
    TRY(std::shared_ptr<Context> context, current_context());
    MemoryTicket ticket;
    std::memcpy(&ticket, &handle, sizeof ticket);
    TRY(*pdptr, open_memory(*context, ticket));
    return {};
  });
}

CUresult cuIpcOpenMemHandle(CUdeviceptr* pdptr, CUipcMemHandle handle, unsigned int Flags) {
  return forwarded([&] { return cuIpcOpenMemHandle_v2(pdptr, handle, Flags); });
}

CUresult cuIpcCloseMemHandle(CUdeviceptr dptr) {
  return api_call([&]() -> Result<> { return close_memory(dptr); });
}

CUresult cuIpcGetEventHandle(CUipcEventHandle* pHandle, CUevent event) {
  return api_call([&]() -> Result<> {
    TRY(given(pHandle, "pHandle"));
    TRY(std::shared_ptr<Event> found, Runtime::get().event(event));
    if (!found->shared())
      return fail(ErrorCode::InvalidHandle,
                  "the event was made without CU_EVENT_INTERPROCESS: only events with that flag have handles");
    const EventTicket ticket = found->shared()->ticket();
    *pHandle = {};
    std::memcpy(pHandle, &ticket, sizeof ticket);
    return {};
  });
}

CUresult cuIpcOpenEventHandle(CUevent* phEvent, CUipcEventHandle handle) {
  return api_call([&]() -> Result<> {
    TRY(given(phEvent, "phEvent"));
    TRY(std::shared_ptr<Context> context, current_context());
    EventTicket ticket;
    std::memcpy(&ticket, &handle, sizeof ticket);
    TRY(std::shared_ptr<SharedEvent> shared, SharedEvent::open(ticket));
    auto event = std::make_shared<Event>(*context, false, std::move(shared));
    *phEvent = handle_of<CUevent>(Runtime::get().events.add(std::move(event)));
    return {};
  });
}
