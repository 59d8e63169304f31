#include "driver/objects/memory.hpp"

#include "driver/session/callback_thread.hpp"
#include "driver/session/session.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace farcl::driver {

namespace {
constexpr std::size_t kShadowAlignment = 4096; ///< more than any vector type or CL_DEVICE_MEM_BASE_ADDR_ALIGN asks for

/// Not initialised: the pages that are not mapped for reading are never touched.
std::shared_ptr<std::byte[]> allocate_shadow(std::uint64_t size_bytes) {
  const std::size_t rounded = (static_cast<std::size_t>(size_bytes) + kShadowAlignment - 1) / kShadowAlignment * kShadowAlignment;
  void* memory = std::aligned_alloc(kShadowAlignment, rounded);
  if (memory == nullptr || rounded < size_bytes) {
    throw std::bad_alloc();
  }
  return {static_cast<std::byte*>(memory), std::free};
}
} // namespace

Mem::Mem(Context& context, protocol::BufferId id, cl_mem_flags flags, std::uint64_t size_bytes, void* host_ptr,
         std::vector<cl_mem_properties> properties_array)
    : context_(&context), id_(id), flags_(flags), size_bytes_(size_bytes), host_ptr_(host_ptr),
      properties_array_(std::move(properties_array)), residency_{&context.session()},
      placement_(context.session().new_placement(id, size_bytes)) {
  session().set_owner(protocol::ObjectKind::kBuffer, id_.value, &context);
}

Mem::Mem(Mem& parent, protocol::BufferId id, cl_mem_flags flags, std::uint64_t origin, std::uint64_t size_bytes)
    : context_(&parent.context()), parent_(&parent), id_(id), flags_(flags), size_bytes_(size_bytes), origin_(origin),
      host_ptr_(parent.host_ptr() == nullptr ? nullptr : static_cast<std::byte*>(parent.host_ptr()) + origin),
      placement_(parent.placement_) {
  session().share_placement(id_, placement_);
  session().set_owner(protocol::ObjectKind::kBuffer, id_.value, &parent.context());
}

Mem::~Mem() {
  session().release(protocol::ObjectKind::kBuffer, id_.value);
  auto destructors = state_.with([](State& state) { return std::move(state.destructors); });
  for (auto one = destructors.rbegin(); one != destructors.rend(); ++one) { // the newest first, as the specification says
    post_callback([function = one->function, memory = handle(), user_data = one->user_data] { function(memory, user_data); });
  }
}

cl_uint Mem::map_count() { return static_cast<cl_uint>(state_.lock()->mappings.size()); }

void Mem::add_destructor(DestructorFunction function, void* user_data) { state_.lock()->destructors.push_back({function, user_data}); }

void Mem::add_mapping(Mapping mapping) { state_.lock()->mappings.push_back(std::move(mapping)); }

bool Mem::has_mapping(const void* pointer) {
  auto state = state_.lock();
  return std::any_of(state->mappings.begin(), state->mappings.end(), [&](const Mapping& one) { return one.pointer == pointer; });
}

Mapping Mem::take_mapping(const void* pointer) {
  auto state = state_.lock();
  const auto found =
      std::find_if(state->mappings.rbegin(), state->mappings.rend(), [&](const Mapping& one) { return one.pointer == pointer; });
  if (found == state->mappings.rend()) {
    return {};
  }
  Mapping mapping = std::move(*found);
  state->mappings.erase(std::next(found).base());
  return mapping;
}

bool Mem::has_shadow() { return !state_.lock()->shadow.expired(); }

Mapping Mem::make_mapping(std::uint64_t offset, std::uint64_t size_bytes, cl_map_flags flags) {
  Mapping mapping{nullptr, offset, size_bytes, flags, false, nullptr};
  if (host_ptr_ != nullptr) {
    mapping.pointer = static_cast<std::byte*>(host_ptr_) + offset;
    return mapping;
  }
  auto state = state_.lock();
  mapping.shadow = state->shadow.lock();
  if (!mapping.shadow) {
    mapping.shadow = allocate_shadow(size_bytes_);
    state->shadow = mapping.shadow;
  }
  mapping.pointer = mapping.shadow.get() + offset;
  return mapping;
}

} // namespace farcl::driver
