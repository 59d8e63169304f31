#include "driver/icd/entry_points.hpp"
#include "driver/icd/stub.hpp"

namespace farcl::driver {
namespace {

template <class Member, class Function>
Member as_member(Function* function) {
  if constexpr (std::is_same_v<Member, void*>) {
    return reinterpret_cast<void*>(function);
  } else {
    return function;
  }
}

} // namespace

const cl_icd_dispatch kDispatchTable = {
#define FARCL_ENTRY(name, ...) .name = &entry::name,
#define FARCL_ABSENT(name, code, reason) .name = as_member<cl_api_##name>(&Stub<cl_api_##name, code>::call),
#include "driver/icd/api_list.def"
};

} // namespace farcl::driver
