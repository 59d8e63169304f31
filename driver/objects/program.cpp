#include "driver/objects/program.hpp"

#include "driver/session/session.hpp"

namespace farcl::driver {

Program::Program(Context& context, std::vector<Device*> devices, ProgramKind kind, std::string source, ByteVector binary)
    : context_(&context), id_(context.session().new_id<protocol::ProgramId>()), devices_(std::move(devices)), kind_(kind),
      source_(std::move(source)), binary_(std::move(binary)) {
  session().set_owner(protocol::ObjectKind::kProgram, id_.value, &context);
}

Program::~Program() {
  if (known_to_server_.load(std::memory_order_relaxed)) {
    session().release(protocol::ObjectKind::kProgram, id_.value);
  } else {
    session().forget_owner(protocol::ObjectKind::kProgram, id_.value);
  }
}

} // namespace farcl::driver
