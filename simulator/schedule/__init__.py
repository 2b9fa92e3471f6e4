"""When everything happens: supersteps of one IPU in order, collectives between IPUs, transfers to and from the host."""
