// Contexts. "CUDA Driver API, Context Management".

#include "cuda/driver/api.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

Result<> check_flags(unsigned flags) {
  const unsigned schedule = flags & CU_CTX_SCHED_MASK;
  if (flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK) || (schedule & (schedule - 1)))
    return fail(ErrorCode::InvalidValue, "the context flags {:#x} are not valid", flags);
  return {};
}

/// The thread's current context if the handle, or none, means that one and it is live; else null.
const Context* current_if_it_is(CUcontext handle) {
  const auto& stack = ThreadState::get().contexts();
  if (stack.empty() || !stack.back() || !stack.back()->active()) return nullptr;
  return !handle || handle_of<CUcontext>(stack.back().get()) == handle ? stack.back().get() : nullptr;
}

Result<std::shared_ptr<Context>> current_or(CUcontext handle) {
  if (!handle) return current_context_even_if_faulted();
  return Runtime::get().context(handle);
}

Result<> create(CUcontext* pctx, unsigned flags, CUdevice dev) {
  TRY(given(pctx, "pctx"));
  TRY(check_flags(flags));
  TRY(Device * device, Runtime::get().device(dev));
  auto context = std::make_shared<Context>(*device, false);
  context->set_flags(flags);
  *pctx = handle_of<CUcontext>(Runtime::get().contexts.add(context));
  ThreadState::get().contexts().push_back(std::move(context));
  return {};
}

}  // namespace

CUresult cuCtxCreate_v2(CUcontext* pctx, unsigned int flags, CUdevice dev) {
  return api_call([&]() -> Result<> { return create(pctx, flags, dev); });
}

CUresult cuCtxCreate_v3(CUcontext* pctx, CUexecAffinityParam*, int numParams, unsigned int flags, CUdevice dev) {
  return api_call([&]() -> Result<> {
    if (numParams != 0) return fail(ErrorCode::UnsupportedExecAffinity, "execution affinity is not supported");
    return create(pctx, flags, dev);
  });
}

CUresult cuCtxCreate_v4(CUcontext* pctx, CUctxCreateParams* ctxCreateParams, unsigned int flags, CUdevice dev) {
  return api_call([&]() -> Result<> {
    if (ctxCreateParams && ctxCreateParams->numExecAffinityParams != 0)
      return fail(ErrorCode::UnsupportedExecAffinity, "execution affinity is not supported");
    if (ctxCreateParams && ctxCreateParams->cigParams)
      return fail(ErrorCode::NotSupported, "contexts for graphics are not supported");
    return create(pctx, flags, dev);
  });
}

CUresult cuCtxDestroy_v2(CUcontext ctx) {
  return api_call([&]() -> Result<> {
    TRY(given(ctx, "ctx"));
    auto& stack = ThreadState::get().contexts();
    if (!stack.empty() && handle_of<CUcontext>(stack.back().get()) == ctx) {
      TRY(destroy_context(ctx));
      stack.pop_back();
      return {};
    }
    return destroy_context(ctx);
  });
}

CUresult cuCtxDestroy(CUcontext ctx) {
  return forwarded([&] { return cuCtxDestroy_v2(ctx); });
}

CUresult cuCtxPushCurrent_v2(CUcontext ctx) {
  return api_call([&]() -> Result<> {
    TRY(given(ctx, "ctx"));
    TRY(std::shared_ptr<Context> context, Runtime::get().context(ctx));
    ThreadState::get().contexts().push_back(std::move(context));
    return {};
  });
}

CUresult cuCtxPushCurrent(CUcontext ctx) {
  return forwarded([&] { return cuCtxPushCurrent_v2(ctx); });
}

CUresult cuCtxPopCurrent_v2(CUcontext* pctx) {
  return api_call([&]() -> Result<> {
    auto& stack = ThreadState::get().contexts();
    if (stack.empty()) return fail(ErrorCode::InvalidContext, "the thread's stack of contexts is empty");
    if (pctx) *pctx = handle_of<CUcontext>(stack.back().get());
    stack.pop_back();
    return {};
  });
}

CUresult cuCtxPopCurrent(CUcontext* pctx) {
  return forwarded([&] { return cuCtxPopCurrent_v2(pctx); });
}

CUresult cuCtxSetCurrent(CUcontext ctx) {
  return api_call([&]() -> Result<> {
    auto& stack = ThreadState::get().contexts();
    if (!ctx) {
      if (!stack.empty()) stack.pop_back();
      return {};
    }
    TRY(std::shared_ptr<Context> context, Runtime::get().context(ctx));
    if (stack.empty()) {
      stack.push_back(std::move(context));
    } else {
      stack.back() = std::move(context);
    }
    return {};
  });
}

CUresult cuCtxGetCurrent(CUcontext* pctx) {
  return api_call([&]() -> Result<> {
    TRY(given(pctx, "pctx"));
    const auto& stack = ThreadState::get().contexts();
    *pctx = stack.empty() ? nullptr : handle_of<CUcontext>(stack.back().get());
    return {};
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return api_call([&]() -> Result<> {
    TRY(given(device, "device"));
    TRY(std::shared_ptr<Context> context, current_context_even_if_faulted());
    *device = context->device().ordinal();
    return {};
  });
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext ctx) {
  return api_call([&]() -> Result<> {
    TRY(given(device, "device"));
    TRY(std::shared_ptr<Context> context, current_or(ctx));
    *device = context->device().ordinal();
    return {};
  });
}

CUresult cuCtxGetFlags(unsigned int* flags) {
  return api_call([&]() -> Result<> {
    TRY(given(flags, "flags"));
    TRY(std::shared_ptr<Context> context, current_context_even_if_faulted());
    *flags = context->flags();
    return {};
  });
}

CUresult cuCtxSetFlags(unsigned int flags) {
  return api_call([&]() -> Result<> {
    TRY(check_flags(flags));
    TRY(std::shared_ptr<Context> context, current_context_even_if_faulted());
    context->set_flags(flags);
    return {};
  });
}

CUresult cuCtxGetId(CUcontext ctx, unsigned long long* ctxId) {
  return api_call([&]() -> Result<> {
    TRY(given(ctxId, "ctxId"));
    if (const Context* const current = current_if_it_is(ctx)) {
      *ctxId = current->id();
      return {};
    }
    Result<std::shared_ptr<Context>> context = current_or(ctx);
    if (!ctx && !context) return refuse(context.error().code);  // the runtime asks so, and does something about it
    TRY(const std::shared_ptr<Context> known, std::move(context));
    *ctxId = known->id();
    return {};
  });
}

namespace {

/// Error: StreamCaptureUnsupported while a stream of the context is captured, which invalidates the capture.
Result<> synchronize(Context& context) {
  if (context.order()->invalidate_captures(false))
    return fail(ErrorCode::StreamCaptureUnsupported,
                "the context has a stream that is captured: end the capture first");
  return context.synchronize();
}

}  // namespace

CUresult cuCtxSynchronize() {
  return api_call([]() -> Result<> {
    TRY(std::shared_ptr<Context> context, current_context_even_if_faulted());
    return synchronize(*context);
  });
}

CUresult cuCtxSynchronize_v2(CUcontext ctx) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Context> context, current_or(ctx));
    return synchronize(*context);
  });
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Context> context, current_context());
    return context->set_limit(limit, value);
  });
}

CUresult cuCtxGetLimit(size_t* pvalue, CUlimit limit) {
  return api_call([&]() -> Result<> {
    TRY(given(pvalue, "pvalue"));
    TRY(std::shared_ptr<Context> context, current_context());
    TRY(*pvalue, context->limit(limit));
    return {};
  });
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* pconfig) {
  return api_call([&]() -> Result<> {
    TRY(given(pconfig, "pconfig"));
    TRY(std::shared_ptr<Context> context, current_context());
    *pconfig = static_cast<CUfunc_cache>(context->cache_config.load());
    return {};
  });
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  return api_call([&]() -> Result<> {
    if (config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL)
      return fail(ErrorCode::InvalidValue, "config is {}, which is no CUfunc_cache", static_cast<int>(config));
    TRY(std::shared_ptr<Context> context, current_context());
    context->cache_config = config;
    return {};
  });
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig* pConfig) {
  return api_call([&]() -> Result<> {
    TRY(given(pConfig, "pConfig"));
    TRY(current_context());
    *pConfig = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;  // fixed, whatever is set: an H200 (driver 580)
    return {};
  });
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  return api_call([&]() -> Result<> {
    if (config < CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE || config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
      return fail(ErrorCode::InvalidValue, "config is {}, which is no CUsharedconfig", static_cast<int>(config));
    TRY(current_context());
    return {};
  });
}

CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int* version) {
  return api_call([&]() -> Result<> {
    TRY(given(version, "version"));
    TRY(current_or(ctx));
    *version = 3020;  // what contexts of cuCtxCreate_v2 and later have reported since
    return {};
  });
}

CUresult cuCtxGetStreamPriorityRange(int* leastPriority, int* greatestPriority) {
  return api_call([&]() -> Result<> {
    TRY(current_context());
    if (leastPriority) *leastPriority = kLeastPriority;
    if (greatestPriority) *greatestPriority = kGreatestPriority;
    return {};
  });
}

CUresult cuCtxResetPersistingL2Cache() {
  return api_call([]() -> Result<> {
    TRY(current_context());
    return {};  // no line persists
  });
}

// Memory is one for all devices: what is enabled is only kept and reported. What is said of contexts of one device is
// an H200's answer (driver 580).
CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags) {
  return api_call([&]() -> Result<> {
    if (Flags != 0) return fail(ErrorCode::InvalidValue, "Flags are {}; they must be 0", Flags);
    TRY(std::shared_ptr<Context> context, current_context());
    TRY(std::shared_ptr<Context> peer, Runtime::get().context(peerContext));
    return context->enable_peer(*peer);
  });
}

CUresult cuCtxDisablePeerAccess(CUcontext peerContext) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Context> context, current_context());
    TRY(std::shared_ptr<Context> peer, Runtime::get().context(peerContext));
    return context->disable_peer(*peer);
  });
}

// ---- primary contexts: "CUDA Driver API, Primary Context Management" ----

CUresult cuDevicePrimaryCtxRetain(CUcontext* pctx, CUdevice dev) {
  return api_call([&]() -> Result<> {
    TRY(given(pctx, "pctx"));
    TRY(Device * device, Runtime::get().device(dev));
    device->primary().retain();
    *pctx = handle_of<CUcontext>(&device->primary());
    return {};
  });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev) {
  return api_call([&]() -> Result<> {
    TRY(Device * device, Runtime::get().device(dev));
    return device->primary().release();
  });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice dev) {
  return forwarded([&] { return cuDevicePrimaryCtxRelease_v2(dev); });
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice dev) {
  return api_call([&]() -> Result<> {
    TRY(Device * device, Runtime::get().device(dev));
    device->primary().deactivate();
    return {};
  });
}

CUresult cuDevicePrimaryCtxReset(CUdevice dev) {
  return forwarded([&] { return cuDevicePrimaryCtxReset_v2(dev); });
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice dev, unsigned int flags) {
  return api_call([&]() -> Result<> {
    TRY(Device * device, Runtime::get().device(dev));
    TRY(check_flags(flags));
    device->primary().set_flags(flags);
    return {};
  });
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags) {
  return forwarded([&] { return cuDevicePrimaryCtxSetFlags_v2(dev, flags); });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int* flags, int* active) {
  return api_call([&]() -> Result<> {
    TRY(Device * device, Runtime::get().device(dev));
    if (flags) *flags = device->primary().flags();
    if (active) *active = device->primary().active();
    return {};
  });
}
