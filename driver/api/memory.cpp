// Buffers and sub-buffers: making and releasing them.
#include "driver/objects/memory.hpp"
#include "driver/api/with_object.hpp"
#include "driver/session/session.hpp"
#include "driver/validate/device_limits.hpp"
#include "driver/validate/memory.hpp"

#include <cstring>

namespace farcl::driver {
namespace {

/// Initial contents up to this size are copied, and clCreateBuffer waits for nothing; larger ones are sent from where they are.
constexpr std::uint64_t kCopiedContentsBytes = 4u << 20;

cl_int announce_buffer(const Mem& buffer, const void* contents) {
  ServerSession& session = buffer.session();
  protocol::CreateBuffer message;
  message.buffer = buffer.id();
  message.context = buffer.context().id();
  message.flags = buffer.flags();
  message.size_bytes = buffer.size_bytes();
  const ConstBytes bytes(static_cast<const std::byte*>(contents), contents != nullptr ? buffer.size_bytes() : 0);
  if (bytes.size() <= protocol::kMaxInlineBytes) {
    message.data = bytes;
    return session.post(message);
  }
  message.transfer = session.new_id<protocol::TransferId>();
  if (const cl_int code = session.post(message); code != CL_SUCCESS) {
    return code;
  }
  if (bytes.size() > kCopiedContentsBytes) {
    return session.send_bulk_and_wait(message.transfer, bytes);
  }
  std::shared_ptr<std::byte[]> copy(new std::byte[bytes.size()]);
  std::memcpy(copy.get(), bytes.data(), bytes.size());
  const ConstBytes copied(copy.get(), bytes.size());
  session.send_bulk(message.transfer, copied, std::move(copy));
  return CL_SUCCESS;
}

ApiResult<cl_mem> create_buffer(cl_context context, const cl_mem_properties* properties, cl_mem_flags flags, std::size_t size,
                                void* host_ptr) {
  Context* of = Context::from(context);
  if (of == nullptr) {
    return api_error(CL_INVALID_CONTEXT);
  }
  if (const cl_int code = validate::buffer_properties(properties); code != CL_SUCCESS) {
    return api_error(code);
  }
  if (const cl_int code = validate::create_buffer(flags, size, host_ptr, validate::max_alloc_bytes(*of)); code != CL_SUCCESS) {
    return api_error(code);
  }
  std::vector<cl_mem_properties> copy;
  if (properties != nullptr) {
    copy.push_back(0); // no property is supported, so this is all that a valid list holds
  }
  constexpr cl_mem_flags kAccess = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
  const cl_mem_flags full = (flags & kAccess) == 0 ? flags | CL_MEM_READ_WRITE : flags;
  void* kept = (flags & CL_MEM_USE_HOST_PTR) != 0 ? host_ptr : nullptr;
  Mem* buffer = Mem::create(*of, of->session().new_id<protocol::BufferId>(), full, size, kept, std::move(copy));
  if (const cl_int code = announce_buffer(*buffer, host_ptr); code != CL_SUCCESS) {
    (void)buffer->release_api();
    return api_error(code);
  }
  return buffer->handle();
}

} // namespace

namespace entry {

cl_mem CL_API_CALL clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void* host_ptr, cl_int* errcode_ret) {
  return guard_create(Entry::clCreateBuffer, errcode_ret, [&] { return create_buffer(context, nullptr, flags, size, host_ptr); });
}

cl_mem CL_API_CALL clCreateBufferWithProperties(cl_context context, const cl_mem_properties* properties, cl_mem_flags flags, size_t size,
                                                void* host_ptr, cl_int* errcode_ret) {
  return guard_create(Entry::clCreateBufferWithProperties, errcode_ret,
                      [&] { return create_buffer(context, properties, flags, size, host_ptr); });
}

cl_mem CL_API_CALL clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type, const void* info, cl_int* errcode_ret) {
  return guard_create(Entry::clCreateSubBuffer, errcode_ret, [&]() -> ApiResult<cl_mem> {
    Mem* parent = Mem::from(buffer);
    if (parent == nullptr) {
      return api_error(CL_INVALID_MEM_OBJECT);
    }
    const validate::SubBufferParent described{parent->flags(), parent->size_bytes(), parent->parent() != nullptr};
    const auto alignments = validate::alignments_bits(parent->context());
    if (const cl_int code = validate::create_sub_buffer(described, flags, type, info, alignments); code != CL_SUCCESS) {
      return api_error(code);
    }
    const auto& region = *static_cast<const cl_buffer_region*>(info);
    const cl_mem_flags full = validate::sub_buffer_flags(parent->flags(), flags);
    Mem* sub = Mem::create(*parent, parent->session().new_id<protocol::BufferId>(), full, region.origin, region.size);
    (void)parent->session().post(protocol::CreateSubBuffer{sub->id(), parent->id(), full, region.origin, region.size});
    return sub->handle();
  });
}

cl_int CL_API_CALL clRetainMemObject(cl_mem memory) { return retain_object<Mem>(Entry::clRetainMemObject, memory, CL_INVALID_MEM_OBJECT); }

cl_int CL_API_CALL clReleaseMemObject(cl_mem memory) {
  return release_object<Mem>(Entry::clReleaseMemObject, memory, CL_INVALID_MEM_OBJECT);
}

cl_int CL_API_CALL clSetMemObjectDestructorCallback(cl_mem memory, void(CL_CALLBACK* pfn_notify)(cl_mem, void*), void* user_data) {
  return set_destructor_callback<Mem>(Entry::clSetMemObjectDestructorCallback, memory, CL_INVALID_MEM_OBJECT, pfn_notify, user_data);
}

} // namespace entry
} // namespace farcl::driver
