#pragma once
// The consumers of attention's backward pass by wgmma, by the keys of a tile. TILE is the template's.
#include "device/pipeline/attention_backward_columns_wgmma.cuh"
#include "device/pipeline/attention_backward_wide_wgmma.cuh"

#ifndef TMA_JIT_REFERENCE

template <int Tile> struct GradientsOf { template <class Smem, int> using Type = KeyGradients<Smem>; };
template <> struct GradientsOf<64> { template <class Smem, int Index> using Type = WideKeyGradients<Smem, Index>; };
template <> struct GradientsOf<96> { template <class Smem, int Index> using Type = ColumnGradients<Smem, Index>; };
template <class Smem, int Index> using GradientsBy = typename GradientsOf<TILE>::template Type<Smem, Index>;

#endif
