"""Each operator over the tiles of one IPU: how it is split, what each tile computes, receives, sends and holds."""
