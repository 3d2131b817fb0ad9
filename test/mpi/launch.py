"""What the tests of processes share: MPI's settings, a plan for several ranks, what a run leaves behind."""

import glob
import os
import re
import shutil
import signal
import subprocess
import time

import dltools
from e2e import support

REPLICATE = os.path.join(dltools.BIN, "dl_replicate")
PLUGIN = os.path.join(dltools.BIN, "dlrun_mpi.so")
HERE = os.path.dirname(os.path.abspath(__file__))
FRAME = re.compile(r"rank (\d+) \(host ([^,\n]+), process (\d+)\) (.*) in step (\d+)(?:[,:] .*)?; the run is over")


def missing():
    """Why processes cannot be started here, or None."""
    if not shutil.which("mpirun"):
        return "there is no mpirun (openmpi-bin)"
    if not os.path.exists(PLUGIN):
        return "the plug-in for MPI was not built: there is no mpicc (libopenmpi-dev)"
    version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True).stdout
    return None if "Open MPI" in version else "mpirun is not Open MPI's"


def environment(hosts=None):
    """For dlrun. `hosts`: a folder for hosts that are not there, each a folder in it."""
    env = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    if hosts:
        env.update({"DL_FAKE_HOSTS": hosts, "OMPI_MCA_plm_rsh_agent": os.path.join(HERE, "fake_ssh"), "PMIX_MCA_gds": "hash",
                    "OMPI_MCA_btl": "self,tcp", "OMPI_MCA_pml": "ob1", "OMPI_MCA_btl_tcp_if_include": "lo",
                    "OMPI_MCA_oob_tcp_if_include": "lo"})
    return env


def make_plan(folder, ranks, name="m"):
    """A small model; `name`.plan for one rank and `name`RANKS.plan for so many that exchange bytes each step."""
    plan = os.path.join(folder, f"{name}{ranks}.plan")
    if not os.path.exists(os.path.join(folder, name + ".plan")):
        dltools.dlcc(f"{name}.dl", "-o", f"{name}.plan", cwd=folder)
    dltools.run(REPLICATE, f"{name}.plan", plan, ranks, 4096, cwd=folder)
    return plan


def processes_of(folder):
    """Processes, launchers too, whose command line names a file of the folder."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if any(word.startswith(folder.encode()) for word in words):
            found.append(int(path.split("/")[2]))
    return found


def ranks_of(folder):
    """Process numbers of the ranks: those that mpirun or its daemon has started."""
    ranks = {}
    for pid in processes_of(folder):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                match = re.search(rb"(?:^|\0)OMPI_COMM_WORLD_RANK=(\d+)\0", file.read())
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                state = file.read().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if match and state != "Z":
            ranks[int(match[1])] = pid
    return ranks


def shared_memory():
    """Segments of Open MPI and of ours."""
    return {name for name in os.listdir("/dev/shm") if "vader" in name or "osc" in name or "dlrun" in name}


def session_folders():
    return set(glob.glob("/tmp/ompi.*/*"))


class Leftovers:
    """What is there after a run that was not there before."""

    def __init__(self, folder):
        self.folder = folder
        self.before = shared_memory(), session_folders()

    def found(self, patience=2.0):
        end = time.monotonic() + patience
        while True:
            left = [f"process {pid}" for pid in processes_of(self.folder)]
            left += sorted(shared_memory() - self.before[0]) + sorted(session_folders() - self.before[1])
            if not left or time.monotonic() > end:
                return left
            time.sleep(0.05)


class Run:
    """dlrun -np on a plan that would take for ever."""

    def __init__(self, plan, ranks, *options, env=None):
        self.ranks = ranks
        self.folder = os.path.dirname(plan)
        self.process = subprocess.Popen([dltools.DLRUN, "-np", str(ranks), *options, plan, "--steps", "100000000", "--threads", "1",
                                         "--every", "log=50", "--json"],
                                        cwd=self.folder, env=env or environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)

    def wait_for_steps(self):
        """Until rank 0 has told of a step; returns the pids by rank."""
        for line in self.process.stdout:
            if '"step"' in line and '"event":"step"' in line:
                break
        end = time.monotonic() + 10
        while time.monotonic() < end:
            ranks = ranks_of(self.folder)
            if len(ranks) == self.ranks:
                return ranks
            time.sleep(0.02)
        raise AssertionError(f"only ranks {sorted(ranks)} run; {self.end()}")

    def end(self, timeout=60):
        """Exit code, seconds, stderr."""
        began = time.monotonic()
        try:
            _, said = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGKILL)
            _, said = self.process.communicate()
            return "still running", time.monotonic() - began, said
        return self.process.returncode, time.monotonic() - began, said


def strike(plan, ranks, kind, rng, *options, env=None):
    """Kills or stops a random rank at a random moment. Returns what was wrong, or nothing, and the seconds it took."""
    left = Leftovers(os.path.dirname(plan))
    run = Run(plan, ranks, *options, env=env)
    pids = run.wait_for_steps()
    time.sleep(rng.uniform(0, 0.6))
    victim = rng.randrange(ranks)
    os.kill(pids[victim], signal.SIGKILL if kind == "kill" else signal.SIGSTOP)
    code, seconds, said = run.end()
    match = FRAME.search(said)
    wrong = []
    if code != 6:
        wrong.append(f"exit code {code}")
    if not match or int(match[1]) != victim or int(match[3]) != pids[victim] or int(match[5]) < 1:
        wrong.append(f"rank {victim}, process {pids[victim]} is not named: {said[-400:]!r}")
    elif kind == "kill" and "killed by signal 9" not in match[4]:
        wrong.append(f"the signal is not named: {match[4]}")
    wrong += left.found()
    for pid in ranks_of(run.folder).values():  # nothing may stay, whatever went wrong
        os.kill(pid, signal.SIGKILL)
    return wrong, seconds


MODEL = support.CONVNET
