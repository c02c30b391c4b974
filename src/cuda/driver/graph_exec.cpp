// Executable graphs. "CUDA Driver API, Graph Management".

#include "runtime/executable_graph.h"

#include "cuda/driver/api.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

constexpr unsigned long long kUpload = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;

/// `problem` says where it failed.
Result<> instantiate(CUgraphExec* out, CUgraph handle, unsigned long long flags, InstantiationProblem& problem) {
  TRY(given(out, "phGraphExec"));
  TRY(std::shared_ptr<Graph> graph, Runtime::get().graph(handle));
  if (graph->owner())
    return fail(ErrorCode::InvalidValue, "the graph belongs to a node: instantiate the graph of that node");
  TRY(std::shared_ptr<Context> context, current_context());
  TRY(std::shared_ptr<ExecutableGraph> made, ExecutableGraph::make(graph, *context, flags, problem));
  *out = handle_of<CUgraphExec>(Runtime::get().executable_graphs.add(std::move(made)));
  return {};
}

CUresult instantiate_with_log(CUgraphExec* out, CUgraph graph, CUgraphNode* error_node, char* log, size_t log_bytes,
                              const char* call = __builtin_FUNCTION()) {
  return api_call(
      [&]() -> Result<> {
        InstantiationProblem problem;
        const Result<> result = instantiate(out, graph, 0, problem);
        if (error_node) *error_node = handle_of<CUgraphNode>(problem.node);
        if (log && log_bytes) {
          const std::string text = result ? std::string() : result.error().message;
          log[text.copy(log, log_bytes - 1)] = '\0';
        }
        return result;
      },
      call);
}

CUresult instantiate_with_params(CUgraphExec* out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* params,
                                 const char* call = __builtin_FUNCTION()) {
  return api_call(
      [&]() -> Result<> {
        TRY(given(params, "instantiateParams"));
        params->hErrNode_out = nullptr;
        params->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
        if (params->flags & kUpload) TRY(usable_stream(params->hUploadStream));
        InstantiationProblem problem;
        const Result<> result = instantiate(out, graph, params->flags, problem);
        params->hErrNode_out = handle_of<CUgraphNode>(problem.node);
        if (result) {
          params->result_out = CUDA_GRAPH_INSTANTIATE_SUCCESS;
        } else if (problem.kind != InstantiationProblem::Kind::None) {
          params->result_out = static_cast<CUgraphInstantiateResult>(problem.kind);
        }
        return result;
      },
      call);
}

Result<UpdateOutcome> update(CUgraphExec executable_handle, CUgraph graph_handle) {
  TRY(std::shared_ptr<ExecutableGraph> executable, Runtime::get().executable_graph(executable_handle));
  TRY(std::shared_ptr<Graph> graph, Runtime::get().graph(graph_handle));
  return executable->update(*graph);
}

Result<> as_result(const UpdateOutcome& outcome) {
  if (outcome.kind == UpdateOutcome::Kind::Success) return {};
  return fail(
      ErrorCode::GraphExecUpdateFailure,
      "the graph differs from the executable one by more than an update may change (CUgraphExecUpdateResult {})",
      static_cast<int>(outcome.kind));
}

}  // namespace

CUresult cuGraphInstantiate(CUgraphExec* phGraphExec, CUgraph hGraph, CUgraphNode* phErrorNode, char* logBuffer,
                            size_t bufferSize) {
  return instantiate_with_log(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize);
}
CUresult cuGraphInstantiate_v2(CUgraphExec* phGraphExec, CUgraph hGraph, CUgraphNode* phErrorNode, char* logBuffer,
                               size_t bufferSize) {
  return instantiate_with_log(phGraphExec, hGraph, phErrorNode, logBuffer, bufferSize);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* phGraphExec, CUgraph hGraph, unsigned long long flags) {
  return api_call([&]() -> Result<> {
    if (flags & kUpload)
      return fail(ErrorCode::InvalidValue, "uploading at once needs a stream: use cuGraphInstantiateWithParams");
    InstantiationProblem problem;
    return instantiate(phGraphExec, hGraph, flags, problem);
  });
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* phGraphExec, CUgraph hGraph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* instantiateParams) {
  return instantiate_with_params(phGraphExec, hGraph, instantiateParams);
}

CUresult cuGraphExecGetFlags(CUgraphExec hGraphExec, cuuint64_t* flags) {
  return api_call([&]() -> Result<> {
    TRY(given(flags, "flags"));
    TRY(std::shared_ptr<ExecutableGraph> executable, Runtime::get().executable_graph(hGraphExec));
    *flags = executable->flags() & ~kUpload;
    return {};
  });
}

// Nothing needs to be brought to the device before a launch.
CUresult cuGraphUpload(CUgraphExec hGraphExec, CUstream hStream) {
  return api_call([&]() -> Result<> {
    TRY(Runtime::get().executable_graph(hGraphExec));
    TRY(usable_stream(hStream));
    return {};
  });
}

CUresult cuGraphLaunch(CUgraphExec hGraphExec, CUstream hStream) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<ExecutableGraph> executable, Runtime::get().executable_graph(hGraphExec));
    TRY(std::shared_ptr<Stream> stream, capturable_stream(hStream));
    return executable->launch(*stream);
  });
}

CUresult cuGraphExecDestroy(CUgraphExec hGraphExec) {
  return api_call([&]() -> Result<> {
    TRY(Runtime::get().executable_graph(hGraphExec));
    Runtime::get().executable_graphs.remove(hGraphExec);
    return {};
  });
}

CUresult cuGraphExecUpdate_v2(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphExecUpdateResultInfo* resultInfo) {
  return api_call([&]() -> Result<> {
    TRY(given(resultInfo, "resultInfo"));
    *resultInfo = {CU_GRAPH_EXEC_UPDATE_ERROR, nullptr, nullptr};
    TRY(const UpdateOutcome outcome, update(hGraphExec, hGraph));
    *resultInfo = {static_cast<CUgraphExecUpdateResult>(outcome.kind), handle_of<CUgraphNode>(outcome.node),
                   handle_of<CUgraphNode>(outcome.from)};
    return as_result(outcome);
  });
}

CUresult cuGraphExecUpdate(CUgraphExec hGraphExec, CUgraph hGraph, CUgraphNode* hErrorNode_out,
                           CUgraphExecUpdateResult* updateResult_out) {
  return api_call([&]() -> Result<> {
    TRY(given(updateResult_out, "updateResult_out"));
    *updateResult_out = CU_GRAPH_EXEC_UPDATE_ERROR;
    if (hErrorNode_out) *hErrorNode_out = nullptr;
    TRY(const UpdateOutcome outcome, update(hGraphExec, hGraph));
    *updateResult_out = static_cast<CUgraphExecUpdateResult>(outcome.kind);
    if (hErrorNode_out) *hErrorNode_out = handle_of<CUgraphNode>(outcome.node);
    return as_result(outcome);
  });
}

CUresult cuGraphNodeSetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int isEnabled) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<ExecutableGraph> executable, Runtime::get().executable_graph(hGraphExec));
    TRY(std::shared_ptr<Node> node, Runtime::get().graph_node(hNode));
    return executable->set_enabled(*node, isEnabled != 0);
  });
}

CUresult cuGraphNodeGetEnabled(CUgraphExec hGraphExec, CUgraphNode hNode, unsigned int* isEnabled) {
  return api_call([&]() -> Result<> {
    TRY(given(isEnabled, "isEnabled"));
    TRY(std::shared_ptr<ExecutableGraph> executable, Runtime::get().executable_graph(hGraphExec));
    TRY(std::shared_ptr<Node> node, Runtime::get().graph_node(hNode));
    TRY(*isEnabled, executable->enabled(*node));
    return {};
  });
}
