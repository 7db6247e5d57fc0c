"""Each rank says where it is and on which GPU; their sum shows that they talk to each other.

prorata training mpi submit hello -p team-a -i mpi --workers 2 -g 1 --master-gpu-devices-request 0 \
    --master-command "mpirun /usr/bin/python3 $PWD/hello.py"        (Debian: openmpi-bin python3-mpi4py)
"""
import os

from mpi4py import MPI

world = MPI.COMM_WORLD
print("rank", world.rank, "of", world.size, "in", os.environ["POD_NAME"], "on", os.environ["CUDA_VISIBLE_DEVICES"] or "no GPU",
      "sum", world.allreduce(world.rank), flush=True)
