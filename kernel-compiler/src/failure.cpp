#include "failure.hpp"

#include "markers.hpp"

#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/Support/raw_ostream.h>

namespace farcl::kernel_compiler {

using namespace llvm;

void refuse(LLVMContext& context, const std::string& sentence) { context.emitError(sentence); }

std::string source_name(const Function& function) {
  StringRef name = function.getName();
  name.consume_front(kUserPrefix);
  name.consume_front("__clang_ocl_kern_imp_");
  name.consume_back(kBodySuffix);
  return demangle(name.str());
}

FailureCollector::FailureCollector(LLVMContext& context) : context_(context) {
  context_.setDiagnosticHandlerCallBack(&on_diagnostic, this);
}

FailureCollector::~FailureCollector() { context_.setDiagnosticHandlerCallBack(nullptr, nullptr); }

void FailureCollector::on_diagnostic(const DiagnosticInfo* info, void* self) {
  if (info->getSeverity() != DS_Error) {
    return;
  }
  std::string& errors = static_cast<FailureCollector*>(self)->errors_;
  raw_string_ostream stream(errors);
  DiagnosticPrinterRawOStream printer(stream);
  stream << "error: ";
  info->print(printer);
  stream << '\n';
}

} // namespace farcl::kernel_compiler
