#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace c63::race {

/// A flow of control with its own stack. glibc's swapcontext() makes a system call each time, so x86-64 has
/// its own switch.
struct Fibre {
#if defined(__x86_64__)
  void** stack = nullptr;  ///< while it does not run; the registers that a function keeps are on it

  /// `run` must not return.
  void start(std::uint8_t* low, std::size_t bytes, void (*run)()) {
    stack = reinterpret_cast<void**>(low + bytes) - 8;
    std::fill_n(stack, 8, nullptr);
    stack[6] = reinterpret_cast<void*>(run);
  }
  __attribute__((noinline, naked, used)) static void switch_to([[maybe_unused]] Fibre* from, [[maybe_unused]] const Fibre* to) {
    asm("push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
        "mov %rsp, (%rdi)\n"
        "mov (%rsi), %rsp\n"
        "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
        "ret");
  }
#else
  ucontext_t context{};

  void start(std::uint8_t* low, std::size_t bytes, void (*run)()) {
    ::getcontext(&context);
    context.uc_stack = {.ss_sp = low, .ss_flags = 0, .ss_size = bytes};
    ::makecontext(&context, run, 0);
  }
  static void switch_to(Fibre* from, const Fibre* to) { ::swapcontext(&from->context, &to->context); }
#endif
};

}  // namespace c63::race
