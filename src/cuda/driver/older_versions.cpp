// Calls that newer ones have replaced, and questions with one answer here.

#include <map>

#include "cuda/driver/api.h"

using namespace cupola;
using namespace cupola::driver;

CUresult cuCtxCreate(CUcontext* pctx, unsigned int flags, CUdevice dev) {
  return forwarded([&] { return cuCtxCreate_v2(pctx, flags, dev); });
}

// "CUDA Driver API, Context Management [DEPRECATED]": a usage count, which is 1 for a context that was created.
namespace {

struct UsageCounts {
  Mutex mutex;
  std::map<CUcontext, unsigned> attached GUARDED_BY(mutex);  ///< beyond the creator's
};

UsageCounts& usage_counts() {
  static auto* const instance = new UsageCounts;  // leaked: used after static destructors
  return *instance;
}

}  // namespace

CUresult cuCtxAttach(CUcontext* pctx, unsigned int flags) {
  return api_call([&]() -> Result<> {
    TRY(given(pctx, "pctx"));
    if (flags != 0) return fail(ErrorCode::InvalidValue, "flags are {:#x}; they must be 0", flags);
    TRY(std::shared_ptr<Context> context, current_context());
    *pctx = handle_of<CUcontext>(context.get());
    UsageCounts& counts = usage_counts();
    Lock lock(counts.mutex);
    ++counts.attached[*pctx];
    return {};
  });
}

CUresult cuCtxDetach(CUcontext ctx) {
  bool last = false;
  const CUresult status = api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Context> context, current_context_even_if_faulted());
    if (handle_of<CUcontext>(context.get()) != ctx)
      return fail(ErrorCode::InvalidContext, "only the current context can be detached from");
    UsageCounts& counts = usage_counts();
    Lock lock(counts.mutex);
    const auto found = counts.attached.find(ctx);
    last = found == counts.attached.end();
    if (!last && --found->second == 0) counts.attached.erase(found);
    return {};
  });
  return last ? cuCtxDestroy_v2(ctx) : status;
}

CUresult cuCtxGetExecAffinity(CUexecAffinityParam* pExecAffinity, CUexecAffinityType type) {
  return api_call([&]() -> Result<> {
    TRY(given(pExecAffinity, "pExecAffinity"));
    if (type != CU_EXEC_AFFINITY_TYPE_SM_COUNT)
      return fail(ErrorCode::UnsupportedExecAffinity, "execution affinity {} is not supported", static_cast<int>(type));
    TRY(std::shared_ptr<Context> context, current_context());
    pExecAffinity->type = type;
    pExecAffinity->param.smCount.val = context->device().properties().multiprocessors;  // a context has all of them
    return {};
  });
}

CUresult cuStreamGetCtx_v2(CUstream hStream, CUcontext* pCtx, CUgreenCtx* pGreenCtx) {
  return api_call([&]() -> Result<> {
    TRY(given(pCtx, "pCtx"));
    TRY(given(pGreenCtx, "pGreenCtx"));
    TRY(std::shared_ptr<Stream> stream, Runtime::get().stream(hStream));
    *pCtx = handle_of<CUcontext>(&stream->context());
    *pGreenCtx = nullptr;  // no stream is of a green context
    return {};
  });
}
