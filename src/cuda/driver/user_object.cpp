// User objects. "CUDA Driver API, Graph Management" and "CUDA C++ Programming Guide, CUDA User Objects".

#include "runtime/user_object.h"

#include <limits>

#include "cuda/driver/api.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

Result<> check_count(unsigned count) {
  if (count >= 1 && count <= static_cast<unsigned>(std::numeric_limits<int>::max())) return {};
  return fail(ErrorCode::InvalidValue, "a count of {} references was given; it may be 1 to INT_MAX", count);
}

}  // namespace

CUresult cuUserObjectCreate(CUuserObject* object_out, void* ptr, CUhostFn destroy, unsigned int initialRefcount,
                            unsigned int flags) {
  return api_call([&]() -> Result<> {
    TRY(given(object_out, "object_out"));
    if (!destroy) return fail(ErrorCode::InvalidValue, "destroy is null");
    TRY(check_count(initialRefcount));
    if (flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
      return fail(ErrorCode::InvalidValue, "flags are {:#x}; they must be CU_USER_OBJECT_NO_DESTRUCTOR_SYNC", flags);
    auto object = std::make_shared<UserObject>(ptr, destroy, initialRefcount);
    *object_out = handle_of<CUuserObject>(Runtime::get().user_objects.add(std::move(object)));
    return {};
  });
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned int count) {
  return api_call([&]() -> Result<> {
    TRY(check_count(count));
    TRY(std::shared_ptr<UserObject> found, Runtime::get().user_object(object));
    found->retain(count);
    return {};
  });
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned int count) {
  return api_call([&]() -> Result<> {
    TRY(check_count(count));
    TRY(std::shared_ptr<UserObject> found, Runtime::get().user_object(object));
    return found->release_checked(count);
  });
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned int count, unsigned int flags) {
  return api_call([&]() -> Result<> {
    TRY(check_count(count));
    if (flags & ~static_cast<unsigned>(CU_GRAPH_USER_OBJECT_MOVE))
      return fail(ErrorCode::InvalidValue, "the flags {:#x} are not valid", flags);
    TRY(std::shared_ptr<Graph> holder, Runtime::get().graph(graph));
    TRY(std::shared_ptr<UserObject> found, Runtime::get().user_object(object));
    // Else the caller's references become the graph's. That there are so many nobody checks: an H200 (driver 580).
    if (!(flags & CU_GRAPH_USER_OBJECT_MOVE)) found->retain(count);
    holder->retain(std::move(found), count);
    return {};
  });
}

CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned int count) {
  return api_call([&]() -> Result<> {
    TRY(check_count(count));
    TRY(std::shared_ptr<Graph> holder, Runtime::get().graph(graph));
    TRY(std::shared_ptr<UserObject> found, Runtime::get().user_object(object));
    holder->release(*found, count);  // more than the graph holds is no error: an H200 (driver 580)
    return {};
  });
}
