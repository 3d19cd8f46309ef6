// A plugin of qemu-user 7.2 that counts the instructions of each function of a program:
//   gcc -O2 -shared -fPIC -o build/count_instructions.so tools/checks/count_instructions.c
//   qemu-aarch64 -plugin build/count_instructions.so build/arm/tests/test_parity 2>&1 | c++filt | sort -rn
// Debian has no header for plugins, so what is used of it is declared here.

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint64_t Id;
typedef struct Block Block;
typedef struct Instruction Instruction;
void qemu_plugin_register_vcpu_tb_trans_cb(Id id, void (*translated)(Id, Block*));
void qemu_plugin_register_vcpu_tb_exec_inline(Block* block, int operation, void* counter, uint64_t added);
void qemu_plugin_register_atexit_cb(Id id, void (*at_exit)(Id, void*), void* data);
size_t qemu_plugin_tb_n_insns(const Block* block);
Instruction* qemu_plugin_tb_get_insn(const Block* block, size_t index);
const char* qemu_plugin_insn_symbol(const Instruction* instruction);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static struct {
  const char* symbol;
  uint64_t instructions;
} functions[1 << 16];  // entry 0 is for code without a symbol
static size_t count = 1;

static void translated(Id id, Block* block) {
  (void)id;
  const char* const symbol = qemu_plugin_insn_symbol(qemu_plugin_tb_get_insn(block, 0));
  size_t i = 0;
  if (symbol != NULL) {
    for (i = 1; i < count && strcmp(functions[i].symbol, symbol) != 0;) ++i;
    if (i == count && count + 1 < sizeof functions / sizeof *functions) functions[count++].symbol = symbol;
  }
  qemu_plugin_register_vcpu_tb_exec_inline(block, 0, &functions[i].instructions, qemu_plugin_tb_n_insns(block));
}

static void at_exit(Id id, void* data) {
  (void)id;
  (void)data;
  functions[0].symbol = "?";
  for (size_t i = 0; i < count; ++i) {
    fprintf(stderr, "%" PRIu64 " %s\n", functions[i].instructions, functions[i].symbol);
  }
}

__attribute__((visibility("default"))) int qemu_plugin_install(Id id, const void* info, int argc, char** argv) {
  (void)info;
  (void)argc;
  (void)argv;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, at_exit, NULL);
  return 0;
}
