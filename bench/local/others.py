"""What others need for the same: task-spooler and Slurm as Debian has them, on this machine, in the same run.

task-spooler keeps its queue in memory and shares nothing; Slurm runs here without an accounting database, all daemons
on this machine, jobs as one array. Each is left out, and says so, where it is not installed."""

import getpass
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import tempfile
import time

CONFIGURATION = """\
ClusterName=bench
SlurmctldHost={host}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0
MaxJobCount=100000
MaxArraySize=50001
ReturnToService=2
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SlurmctldPort=16817
SlurmdPort=16818
NodeName={host} CPUs={cores} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:32
"""


def wait_until(condition, seconds=120):
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError("it took too long")
        time.sleep(0.005)


def task_spooler(count):
    tsp = shutil.which("tsp")
    if not tsp:
        print("task-spooler: not installed (apt-get install task-spooler)")
        return
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(
            os.environ,
            TS_SOCKET=folder + "/socket",
            TS_MAXFINISHED="100000",
            TS_SLOTS=str(os.cpu_count()),
            TMPDIR=folder,
        )

        def run(*words):
            return subprocess.run([tsp, *words], env=environment, capture_output=True, text=True, check=True).stdout

        begun = time.monotonic()
        script = f"for i in $(seq {count}); do {tsp} -n true >/dev/null; done"
        subprocess.run(["/bin/sh", "-c", script], env=environment, check=True)
        submitted = time.monotonic() - begun
        wait_until(lambda: run().count(" finished ") >= count)
        spent = time.monotonic() - begun
        run("-K")
    print(
        f"task-spooler: {count} no-op jobs queued one by one from a shell in {submitted:.2f} s, all ended after "
        f"{spent:.2f} s: {count / spent:.0f} jobs/s"
    )


class Slurm:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        host = socket.gethostname().split(".")[0]
        configuration = self.folder / "slurm.conf"
        configuration.write_text(
            CONFIGURATION.format(host=host, user=getpass.getuser(), folder=folder, cores=os.cpu_count())
        )
        self.environment = dict(os.environ, SLURM_CONF=str(configuration))
        os.makedirs("/run/munge", exist_ok=True)
        shutil.chown("/run/munge", "munge", "munge")

        # munged may run already: then this one ends, and that one serves.
        def start(*words):
            return subprocess.Popen(words, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        self.daemons = [start("runuser", "-u", "munge", "--", "munged", "--foreground")]
        wait_until(lambda: os.path.exists("/run/munge/munge.socket.2"))
        self.daemons += [start("slurmctld", "-i", "-D"), start("slurmd", "-D")]
        wait_until(lambda: "idle" in self.run("sinfo", "-h", "-o", "%t"))

    def run(self, *words):
        return subprocess.run(words, env=self.environment, capture_output=True, text=True, cwd=self.folder).stdout

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            daemon.wait()


def slurm(count, starts):
    if not all(map(shutil.which, ("slurmctld", "slurmd", "sbatch", "munged"))):
        print("Slurm: not installed (apt-get install slurmctld slurmd slurm-client munge)")
        return
    with tempfile.TemporaryDirectory() as folder:
        slurm = Slurm(folder)
        try:
            times = []
            for i in range(starts):
                mark = f"{folder}/mark-{i}"
                begun = time.time()
                slurm.run("sbatch", "-o", "/dev/null", "--wrap", f"date +%s.%N > {mark}.part; mv {mark}.part {mark}")
                wait_until(lambda: os.path.exists(mark))
                times.append((float(pathlib.Path(mark).read_text()) - begun) * 1000)
            times.sort()
            print(
                f"Slurm: submit to process start: p50 {statistics.median(times):.0f} ms, p99 "
                f"{times[int(len(times) * 0.99)]:.0f} ms over {starts}, one after another"
            )
            begun = time.monotonic()
            slurm.run("sbatch", "-o", "/dev/null", f"--array=1-{count}", "--wrap", "true")
            wait_until(lambda: not slurm.run("squeue", "-h").strip(), 600)
            spent = time.monotonic() - begun
            print(f"Slurm: an array of {count} no-op jobs in {spent:.2f} s: {count / spent:.0f} jobs/s")
        finally:
            slurm.stop()
