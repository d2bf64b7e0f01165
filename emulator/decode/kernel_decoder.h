// The state of the decoder for one kernel.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "emulator/decode/form.h"
#include "emulator/decode/frame.h"
#include "emulator/program/program.h"
#include "emulator/runtime/runtime_calls.h"

namespace tma_jit::emulator::decode {

using ptx::Operand;

class Decoder {
 public:
  Decoder(const ptx::Module& module, const GlobalAddresses& globals, const FormTable& forms)
      : module_(module), forms_(forms), program_(std::make_unique<Program>()), layout_(*program_, globals) {
    program_->module = &module;
  }

  std::unique_ptr<const Program> decode(const ptx::Function& kernel);

 private:
  void lay_out_module_shared();
  void lay_out_parameters(Frame& frame, const ptx::Function& kernel);
  void lay_out_callables(const ptx::Function& kernel);
  void emit_callable(Callable& callable);
  void emit_body(Frame& frame);
  void emit(Frame& frame, const ptx::Instruction& instruction);
  void emit_plain(Frame& frame, const ptx::Instruction& instruction);
  // The operands of a call. Absent ones are null or empty lists.
  struct Call {
    const Operand* target = nullptr;
    const Operand* results = nullptr;
    const Operand* arguments = nullptr;
    const Operand* prototype = nullptr;  // for indirect calls
  };
  static Call parts_of(const ptx::Instruction& instruction);
  void emit_call(Frame& frame, const ptx::Instruction& instruction);
  void emit_inlined(Frame& frame, const Call& call, const ptx::Function& callee);
  void emit_out_of_line(Frame& frame, const ptx::Instruction& instruction, const Call& call, const Callable* callee);
  void emit_runtime_call(Frame& frame, const ptx::Instruction& instruction, const Call& call,
                         const runtime::RuntimeSignature& signature);
  void emit_return(Frame& frame, const ptx::Instruction& instruction);
  void guard(Frame& frame, const ptx::Instruction& instruction, Op& op);
  void pass(Frame& from, Frame& to, const Operand& list, const std::vector<ptx::Variable>& formals);

  const ptx::Module& module_;
  const FormTable& forms_;
  std::unique_ptr<Program> program_;
  Layout layout_;
  u32 inlined_ = 0;  // number of inlined calls
  std::map<const ptx::Function*, Callable*> callables_;
  std::vector<const ptx::Function*> calls_;        // the functions being inlined, the kernel first
  std::vector<std::vector<std::size_t>> returns_;  // branches to patch to the end of each function
};

}  // namespace tma_jit::emulator::decode
