#include "binary.hpp"

#include "farcl/base/archive.hpp"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Support/xxhash.h>

namespace farcl::kernel_compiler {
namespace {

using namespace llvm;

constexpr std::uint64_t kMagic = 0x31434b'4c435246ULL; // "FRCLKC1"
constexpr std::uint32_t kFormatVersion = 1;
constexpr std::uint64_t kMaxBitcodeBytes = 256ULL << 20;

struct Envelope {
  std::uint64_t magic = kMagic;
  std::uint32_t format = kFormatVersion;
  std::uint32_t llvm_major = LLVM_VERSION_MAJOR;
  bool optimise = true;
  bool uniform_work_groups = false;
  std::uint64_t checksum = 0;
  ConstBytes bitcode;

  static constexpr auto fields() {
    using T = Envelope;
    return std::tuple(field("magic", &T::magic), field("format", &T::format), field("llvm_major", &T::llvm_major),
                      field("optimise", &T::optimise), field("uniform_work_groups", &T::uniform_work_groups),
                      field("checksum", &T::checksum), field("bitcode", &T::bitcode, kMaxBitcodeBytes));
  }
};

std::uint64_t checksum_of(ConstBytes bytes) {
  return xxh3_64bits(ArrayRef(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
}

} // namespace

ByteVector write_binary(const Module& module, const LoweringOptions& options) {
  SmallVector<char, 0> bitcode;
  raw_svector_ostream stream(bitcode);
  WriteBitcodeToFile(module, stream);
  Envelope envelope;
  envelope.optimise = options.optimise;
  envelope.uniform_work_groups = options.uniform_work_groups;
  envelope.bitcode = ConstBytes(reinterpret_cast<const std::byte*>(bitcode.data()), bitcode.size());
  envelope.checksum = checksum_of(envelope.bitcode);
  return encode(envelope);
}

Result<LoadedBinary> read_binary(ConstBytes bytes, LLVMContext& context) {
  Envelope envelope;
  Reader reader(bytes);
  if (!reader.read(envelope) || envelope.magic != kMagic) {
    return fail(ErrorCode::kInvalid, "not a program binary of FarCL");
  }
  if (envelope.format != kFormatVersion || envelope.llvm_major != LLVM_VERSION_MAJOR) {
    return fail(ErrorCode::kInvalid, "a program binary of another version of FarCL's compiler");
  }
  if (envelope.checksum != checksum_of(envelope.bitcode)) {
    return fail(ErrorCode::kInvalid, "a damaged program binary");
  }
  const StringRef view(reinterpret_cast<const char*>(envelope.bitcode.data()), envelope.bitcode.size());
  Expected<std::unique_ptr<Module>> module = parseBitcodeFile(MemoryBufferRef(view, "program"), context);
  if (!module) {
    return fail(ErrorCode::kInvalid, "a damaged program binary: " + toString(module.takeError()));
  }
  if (verifyModule(**module)) {
    return fail(ErrorCode::kInvalid, "a program binary that is not well-formed");
  }
  LoadedBinary loaded;
  loaded.module = std::move(*module);
  loaded.options = {envelope.optimise, envelope.uniform_work_groups};
  return loaded;
}

} // namespace farcl::kernel_compiler
