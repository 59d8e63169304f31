// A buffer or sub-buffer. It has no contents on the client, except while it is mapped or when it lies in shared memory.
#pragma once

#include "driver/objects/context.hpp"
#include "driver/objects/handle.hpp"
#include "driver/session/placement.hpp"
#include "farcl/base/bytes.hpp"
#include "farcl/base/guarded.hpp"
#include "farcl/protocol/message_list.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace farcl::driver {

/// Where the newest contents of a buffer are. With contexts over one server there is one place; contexts over several servers will
/// decide by it which copy has to move.
struct Residency {
  ServerSession* newest = nullptr;
};

/// One clEnqueueMapBuffer that has not been unmapped.
struct Mapping {
  void* pointer = nullptr;
  std::uint64_t offset = 0; ///< of the mapped range in the (sub-)buffer
  std::uint64_t size_bytes = 0;
  cl_map_flags flags = 0;
  bool in_place = false;               ///< the range is the buffer itself, in shared memory
  std::shared_ptr<std::byte[]> shadow; ///< null: in place, or in the program's own memory (CL_MEM_USE_HOST_PTR)
};

class Mem : public Object<Mem, _cl_mem, 0x4641524c'4d454d4f> {
public:
  using DestructorFunction = void(CL_CALLBACK*)(cl_mem memobj, void* user_data);

  [[nodiscard]] Context& context() const noexcept { return *context_; }
  [[nodiscard]] ServerSession& session() const noexcept { return context_->session(); }
  [[nodiscard]] protocol::BufferId id() const noexcept { return id_; }
  [[nodiscard]] cl_mem_object_type type() const noexcept { return CL_MEM_OBJECT_BUFFER; }
  /// Of a sub-buffer: its own and what it inherits, as CL_MEM_FLAGS wants them.
  [[nodiscard]] cl_mem_flags flags() const noexcept { return flags_; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  /// CL_MEM_HOST_PTR: null unless CL_MEM_USE_HOST_PTR; of a sub-buffer the parent's plus origin.
  [[nodiscard]] void* host_ptr() const noexcept { return host_ptr_; }
  [[nodiscard]] Mem* parent() const noexcept { return parent_.get(); }
  [[nodiscard]] std::uint64_t origin() const noexcept { return origin_; }
  [[nodiscard]] const std::vector<cl_mem_properties>& properties_array() const noexcept { return properties_array_; }
  [[nodiscard]] cl_uint map_count();
  /// Where the buffer that this is (a part of) lies, if it may be in memory that the server shares; else null.
  [[nodiscard]] Placement* placement() const noexcept { return placement_.get(); }
  /// True while a mapping or a transfer holds a copy of the contents.
  [[nodiscard]] bool has_shadow();
  [[nodiscard]] Residency& residency() noexcept { return parent_ ? parent_->residency() : residency_; }

  void add_destructor(DestructorFunction function, void* user_data);

  /// Mappings, in the order in which they were made; a pointer may be there several times. Where sub-buffers are concerned each
  /// (sub-)buffer has its own.
  void add_mapping(Mapping mapping);
  [[nodiscard]] bool has_mapping(const void* pointer);
  /// Removes and returns the newest mapping with that pointer; `pointer` of the result is null when there is none.
  [[nodiscard]] Mapping take_mapping(const void* pointer);
  /// A shadow for [offset, offset + size) shared by overlapping maps of this (sub-)buffer: the same byte of the buffer has one address.
  [[nodiscard]] Mapping make_mapping(std::uint64_t offset, std::uint64_t size_bytes, cl_map_flags flags);

private:
  friend class Object;
  /// A buffer. The caller tells the server (driver/api/memory.cpp), because that may have to wait.
  Mem(Context& context, protocol::BufferId id, cl_mem_flags flags, std::uint64_t size_bytes, void* host_ptr,
      std::vector<cl_mem_properties> properties_array);
  /// A sub-buffer.
  Mem(Mem& parent, protocol::BufferId id, cl_mem_flags flags, std::uint64_t origin, std::uint64_t size_bytes);
  ~Mem();

  struct Destructor {
    DestructorFunction function;
    void* user_data;
  };
  struct State {
    std::vector<Mapping> mappings;
    std::vector<Destructor> destructors;
    std::weak_ptr<std::byte[]> shadow; ///< of the whole (sub-)buffer, held by its mappings and by transfers
  };

  Ref<Context> context_;
  Ref<Mem> parent_;
  const protocol::BufferId id_;
  const cl_mem_flags flags_;
  const std::uint64_t size_bytes_;
  const std::uint64_t origin_ = 0;
  void* const host_ptr_;
  const std::vector<cl_mem_properties> properties_array_;
  Residency residency_;
  const std::shared_ptr<Placement> placement_;
  Guarded<State> state_;
};

} // namespace farcl::driver
