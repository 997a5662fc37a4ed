#!/usr/bin/env python3
"""rtld_local.py LIBRARY: loads libmpi_abi.so.1 privately, as languages other than C do, and uses it. Run by mpiexec."""
import ctypes
import sys

# The standard ABI's constants.
WORLD, INT, SUM = (ctypes.c_void_p(constant) for constant in (0x101, 0x209, 0x21))


def main():
    mpi = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_LOCAL)
    rank, size = ctypes.c_int(-1), ctypes.c_int(-1)
    assert mpi.MPI_Init(None, None) == 0
    assert mpi.MPI_Comm_rank(WORLD, ctypes.byref(rank)) == 0
    assert mpi.MPI_Comm_size(WORLD, ctypes.byref(size)) == 0
    mine, total = ctypes.c_int(rank.value + 1), ctypes.c_int(0)
    assert mpi.MPI_Allreduce(ctypes.byref(mine), ctypes.byref(total), 1, INT, SUM, WORLD) == 0
    assert total.value == size.value * (size.value + 1) // 2, (total.value, size.value)
    many = (ctypes.c_int * 500000)(*[rank.value] * 500000)
    received = (ctypes.c_int * 500000)()
    peer = size.value - 1 - rank.value
    assert mpi.MPI_Sendrecv(many, 500000, INT, peer, 1, received, 500000, INT, peer, 1, WORLD, None) == 0
    assert received[499999] == peer
    assert mpi.MPI_Finalize() == 0


if __name__ == "__main__":
    main()
