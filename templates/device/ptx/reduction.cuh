#pragma once
// The operations of asynchronous reductions. PTX ISA 9.0: inc gives x >= s ? 0 : x + 1 and dec gives x == 0 || x > s ?
// s : x - 1, for the element x in memory and the operand s.

enum class Reduction { add, min, max, inc, dec, bit_and, bit_or, bit_xor };
