#pragma once
// Where a tile of a tensor of three dimensions begins, as the coordinates of a copy through a tensor map.

struct TilePlace {
  int at[3];  // innermost first
};
