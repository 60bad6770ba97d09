// Parses and verifies a text for a platform, as the newest public assembler does before its passes: `verifier FILE a5|a3`.
// Ends with 0 where nothing is wrong, else with 1 and the reasons on the standard error output.

#include "PTO/IR/PTO.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

int main(int count, char **words) {
  if (count != 3) {
    llvm::errs() << "usage: verifier FILE a5|a3\n";
    return 2;
  }
  llvm::StringRef arch = words[2];
  mlir::DialectRegistry registry;
  registry.insert<mlir::affine::AffineDialect, mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                  mlir::memref::MemRefDialect, mlir::scf::SCFDialect, mlir::tensor::TensorDialect, mlir::pto::PTODialect>();
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  mlir::pto::ScopedPTOParserTargetArch scope(
      &context, arch == "a5" ? mlir::pto::PTOParserTargetArch::A5 : mlir::pto::PTOParserTargetArch::A3);
  // The platform is a part of what is verified, so that is done once it is known.
  mlir::ParserConfig config(&context, /*verifyAfterParse=*/false);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(words[1], config);
  if (!module)
    return 1;
  module->getOperation()->setAttr("pto.target_arch", mlir::StringAttr::get(&context, arch));
  return failed(mlir::verify(*module)) ? 1 : 0;
}
