"""Each rank says where it is and on which GPU; their sum shows that they talk to each other.

prorata training mpi submit hello -p team-a -i mpi --workers 2 -g 1 --master-gpu-devices-request 0 \
    --master-command "mpirun /usr/bin/python3 $PWD/hello.py"        (Debian: openmpi-bin python3-mpi4py)
"""

import os

from mpi4py import MPI

world = MPI.COMM_WORLD
total = world.allreduce(world.rank)
where = os.environ["POD_NAME"], os.environ["CUDA_VISIBLE_DEVICES"] or "no GPU"
os.write(
    1, "rank {} of {} in {} on {} sum {}\n".format(world.rank, world.size, *where, total).encode()
)  # whole lines, whoever else writes
