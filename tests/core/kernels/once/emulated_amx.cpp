#include "emulated_amx.h"

#if defined(__x86_64__) && !defined(HEED_DOUBLE)

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <ucontext.h>
#include <unistd.h>

#include "core/kernels/bfloat16/tile_product.h"
#include "software_tiles.h"

namespace heed::inline HEED_REAL::testing {
namespace {

struct Registers {
  bool configured = false;
  std::array<Tile, 8> tiles{};
};
thread_local Registers registers;
std::atomic<long> instruction_count = 0;
struct sigaction action_before;

[[noreturn]] void stop(const char* why) {
  static_cast<void>(!write(STDERR_FILENO, why, std::strlen(why)));
  std::abort();
}

// The general-purpose register with this number in an instruction.
int64_t& general(ucontext_t& context, int number) {
  constexpr int indices[] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                             REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                             REG_R12, REG_R13, REG_R14, REG_R15};
  return reinterpret_cast<int64_t&>(context.uc_mcontext.gregs[indices[number]]);
}

// A VEX-encoded instruction of the opcode map 0F38, as far as AMX needs it:
//   C4  R̄X̄B̄ 00010  W v̄v̄v̄v̄ L pp  opcode  mod reg rm  [scale index base]  [displacement]
struct Instruction {
  int prefix, opcode, third, mod, reg, rm;
  int64_t base = 0, stride = 0;  // the memory operand: address of the first row, and stride
  const uint8_t* next;

  Instruction(const uint8_t* code, ucontext_t& context) {
    if (code[0] != 0xc4 || (code[1] & 0x1f) != 2 || (code[2] & 0x84) != 0)
      stop("emulated AMX: an illegal instruction that is not of AMX\n");
    const int extend_index = code[1] & 0x40 ? 0 : 8, extend_base = code[1] & 0x20 ? 0 : 8;
    third = ~(code[2] >> 3) & 15;
    prefix = code[2] & 3;
    opcode = code[3];
    mod = code[4] >> 6;
    reg = code[4] >> 3 & 7;
    rm = code[4] & 7;
    next = code + 5;
    if (mod == 3) return;
    const bool with_index = rm == 4;
    const int sib = with_index ? *next++ : 0;
    const int number = with_index ? sib & 7 : rm;
    const bool relative =
        mod == 0 && number == 5;  // to the next instruction, or with an index to 0
    if (!relative) base = general(context, number + extend_base);
    if (with_index && ((sib >> 3 & 7) + extend_index) != 4)
      stride = general(context, (sib >> 3 & 7) + extend_index) << (sib >> 6);
    const bool long_displacement = mod == 2 || relative;
    if (mod == 1) base += static_cast<int8_t>(*next++);
    if (long_displacement) {
      int32_t displacement;
      std::memcpy(&displacement, next, 4);
      next += 4;
      base += displacement;
      if (relative && !with_index) base += reinterpret_cast<int64_t>(next);
    }
  }

  bool is(int opcode_, int prefix_, bool in_memory) const {
    return opcode == opcode_ && prefix == prefix_ && (mod != 3) == in_memory;
  }
};

constexpr int none = 0, f3 = 2, f2 = 3;  // the prefixes that pp encodes

void configure(const uint8_t* configuration) {
  bool valid = configuration[0] == 1;
  for (int i = 1; i < 16; ++i) valid = valid && configuration[i] == 0;
  for (int tile = 0; tile < 16; ++tile) {
    uint16_t bytes;
    std::memcpy(&bytes, configuration + 16 + 2 * tile, 2);
    valid =
        valid && bytes == (tile < 8 ? 64 : 0) && configuration[48 + tile] == (tile < 8 ? 16 : 0);
  }
  if (!valid || registers.configured) stop("emulated AMX: unexpected configuration\n");
  registers.tiles = {};
  registers.configured = true;
}

void run(const Instruction& i) {
  if (i.is(0x49, none, true))  // LDTILECFG
    return configure(reinterpret_cast<const uint8_t*>(i.base + i.stride));
  if (!registers.configured) stop("emulated AMX: no configuration\n");
  Tile& tile = registers.tiles[static_cast<size_t>(i.reg)];
  const auto row = [&i](size_t number) {
    return reinterpret_cast<void*>(i.base + static_cast<int64_t>(number) * i.stride);
  };
  if (i.is(0x49, none, false))  // TILERELEASE
    registers.configured = false;
  else if (i.is(0x49, f2, false))  // TILEZERO
    tile = {};
  else if (i.is(0x4b, f2, true))  // TILELOADD
    for (size_t r = 0; r < 16; ++r) std::memcpy(&tile[r], row(r), 64);
  else if (i.is(0x4b, f3, true))  // TILESTORED
    for (size_t r = 0; r < 16; ++r) std::memcpy(row(r), &tile[r], 64);
  else if (i.is(0x5c, f3, false))  // TDPBF16PS
    multiply_tiles(tile, registers.tiles[static_cast<size_t>(i.rm)],
                   registers.tiles[static_cast<size_t>(i.third)]);
  else
    stop("emulated AMX: an instruction that is not emulated\n");
}

void handle(int, siginfo_t*, void* context) {
  auto& here = *static_cast<ucontext_t*>(context);
  auto& at = here.uc_mcontext.gregs[REG_RIP];
  const Instruction instruction(reinterpret_cast<const uint8_t*>(at), here);
  run(instruction);
  at = reinterpret_cast<greg_t>(instruction.next);
  ++instruction_count;
}

}  // namespace

EmulatedAmx::EmulatedAmx() {
  struct sigaction action {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGILL, &action, &action_before);
}

EmulatedAmx::~EmulatedAmx() {
  if (registers.configured) stop("emulated AMX: a configuration was left behind\n");
  sigaction(SIGILL, &action_before, nullptr);
}

bool EmulatedAmx::possible() { return kernels::has_avx512_bfloat16(); }

long EmulatedAmx::instructions() { return instruction_count; }

}  // namespace heed::inline HEED_REAL::testing

#else

namespace heed::inline HEED_REAL::testing {

EmulatedAmx::EmulatedAmx() = default;
EmulatedAmx::~EmulatedAmx() = default;
bool EmulatedAmx::possible() { return false; }
long EmulatedAmx::instructions() { return 0; }

}  // namespace heed::inline HEED_REAL::testing

#endif
