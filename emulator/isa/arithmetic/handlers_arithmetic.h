// Arithmetic, logic, comparisons and moves of registers. The comment of a handler names the fields of Op that it reads.
#pragma once

#include "emulator/program/program.h"

namespace tma_jit::emulator::isa {

// d = lanes(a, b, c)
Step do_lanes(Warp& warp, const Op& op, Mask active);
// d, second = compare(a, b) combined with the predicate c as `kind` says.
enum class Combine : u8 { none, conjunction, disjunction, exclusive };
Step do_compare(Warp& warp, const Op& op, Mask active);
// d = compare(a, b) as ~0 / 1.0F or 0
Step do_set(Warp& warp, const Op& op, Mask active);
// d = predicate c ? a : b
Step do_select(Warp& warp, const Op& op, Mask active);
// Predicates: d = a `kind` b
enum class Logic : u8 { conjunction, disjunction, exclusive, negation, copy };
Step do_logic(Warp& warp, const Op& op, Mask active);
// d = lop3(a, b, c) by the table `immediate`
Step do_lop3(Warp& warp, const Op& op, Mask active);
// d = prmt(a, b, c), mode `kind`
enum class Permute : u8 { general, f4e, b4e, rc8, ecl, ecr, rc16 };
Step do_prmt(Warp& warp, const Op& op, Mask active);
// d = funnel shift of b:a by c; kind: bit 0 right, bit 1 clamp
Step do_shf(Warp& warp, const Op& op, Mask active);
// d = bit field of a at b of c bits; d = a inserted into b at c of e bits
Step do_bfe(Warp& warp, const Op& op, Mask active);
Step do_bfi(Warp& warp, const Op& op, Mask active);
// 64-bit counts into 32 bits: kind 0 popc, 1 clz, 2 bfind, 3 bfind.shiftamt
Step do_count(Warp& warp, const Op& op, Mask active);
// dp4a, dp2a: d = c + dot(a, b); kind: bit 0 signed a, bit 1 signed b, bits 2-3 0 dp4a, 1 dp2a.lo, 2 dp2a.hi
Step do_dot(Warp& warp, const Op& op, Mask active);
// vabsdiff2, vabsdiff4: d = |a - b| of each part of `kind` bits, or with `immediate` c plus all of these
Step do_absolute_difference(Warp& warp, const Op& op, Mask active);
// fns: d = the position of the c-th bit that is set in a, counted from bit b on, downwards if c is negative
Step do_find_nth_set(Warp& warp, const Op& op, Mask active);
// testp of a: kind in the order finite infinite number notanumber normal subnormal
Step do_testp(Warp& warp, const Op& op, Mask active);
// add.cc, addc, sub.cc, subc, mad.cc and madc: kind bit 0 subtract, bit 1 carry in, bit 2 carry out; bit 3 and bit 4
// the lower and the upper half of a * b, plus c, in place of a and b
Step do_carry(Warp& warp, const Op& op, Mask active);
// Packing and unpacking: d = {list}, {list} = a
Step do_pack(Warp& warp, const Op& op, Mask active);
Step do_unpack(Warp& warp, const Op& op, Mask active);
Step do_move_wide(Warp& warp, const Op& op, Mask active);  // 128 bits
Step do_special(Warp& warp, const Op& op, Mask active);    // d = a special register that changes

// d = convert(a [, b]) of Op::data, a ConversionForm.
Step do_convert(Warp& warp, const Op& op, Mask active);

}  // namespace tma_jit::emulator::isa
