#!/usr/bin/env python3
"""launch/pmi: joining and leaving jobs of launchers that speak PMI-1 or PMI-2. The launcher is pmi_server.py, which is strict
and may have faults, and MPICH's own where it is installed (HYDRA names another file than mpiexec.hydra).
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from harness import COMPONENTS, DRIVER, SINGLETON, main, plain

PMI = os.path.join(COMPONENTS, "ashlar_launch_pmi.so")
SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pmi_server.py")
HYDRA = shutil.which(os.environ.get("HYDRA", "mpiexec.hydra"))
SENDRECV = os.path.join(os.path.dirname(DRIVER), "mpi", "pt2pt_sendrecv")
SPAWN = os.path.join(os.path.dirname(DRIVER), "mpi", "spawn")
PLAIN = {name: value for name, value in os.environ.items() if not name.startswith(("PMI_", "SLURM_", "FLUX_"))}


def launch(*words, **variables):
    return subprocess.run(list(map(str, words)), capture_output=True, timeout=60, stdin=subprocess.DEVNULL,
                          env=dict(PLAIN, **variables))


def server(*words, **variables):
    return launch(sys.executable, "-B", SERVER, *words, **variables)


class JobTest(unittest.TestCase):
    def right(self, done, ranks):
        self.assertEqual((done.returncode, done.stderr), (0, b""), done)
        self.assertEqual(sorted(done.stdout.split(b"\n"))[1:], sorted(b"rank %d of %d ok" % (r, ranks) for r in range(ranks)))

    def infos(self, done, pattern):
        self.assertEqual((done.returncode, done.stderr), (0, b""), done)
        return [re.search(pattern, line)[1] for line in sorted(done.stdout.decode().splitlines())]


class Server(JobTest):
    def test_exchange(self):
        for ranks in (1, 2, 4, 16):
            for dialect in (1, 2):
                self.right(server("--dialect", dialect, "-n", ranks, DRIVER, PMI, "modex"), ranks)

    def test_exchange_over_a_port(self):
        for host in ("127.0.0.1", "a-name-that-nobody-looks-up"):
            self.right(server("--port", host, "-n", 3, DRIVER, PMI, "modex"), 3)
        self.right(server("--port", "127.0.0.1", "-n", 3, DRIVER, PMI, "modex", DRIVER_protocol="pmi2"), 3)

    def test_small_limits(self):
        for limit in (2, 3, 17, 64, 1000, 5000):
            self.right(server("--vallen", limit, "-n", 2, DRIVER, PMI, "modex"), 2)
        done = server("--keylen", 16, "-n", 2, DRIVER, PMI, "modex")
        self.assertRegex(plain(done.stdout), r"under key pmi\.card cannot be published: .* may have 15 characters")

    def test_the_other_dialect_where_one_is_refused(self):
        self.right(server("--dialect", 2, "-n", 2, DRIVER, PMI, "modex"), 2)
        # As Slurm does, so that PMI-2 is tried first.
        done = server("--dialect", 1, "--env", "PMI_JOBID=4.0", "-n", 2, DRIVER, PMI, "info")
        self.assertEqual(self.infos(done, r"launcher=.*(PMI-.)"), ["PMI-1", "PMI-1"])
        done = server("--dialect", "both", "--env", "PMI_JOBID=4.0", "-n", 2, DRIVER, PMI, "info")
        self.assertEqual(self.infos(done, r"launcher=.*(PMI-.)"), ["PMI-2", "PMI-2"])
        done = server("--dialect", 1, "-n", 1, DRIVER, PMI, "info", DRIVER_protocol="pmi2")
        self.assertIn(b"the launcher refuses PMI-2 (launch.pmi.protocol", done.stdout)

    def test_what_the_launcher_says(self):
        for dialect in (1, 2):
            done = server("--dialect", dialect, "-n", 2, DRIVER, PMI, "info")
            self.assertEqual(self.infos(done, r"(rank=.*shared=\S+)"), [
                f"rank={r} ranks=2 local={r}/2 node=0/1 appnum=3 universe=9 oversubscribed={int((os.cpu_count() or 1) < 2)} "
                "bound=0 shared=0" for r in range(2)])

    def test_nodes(self):
        for nodes, places in (("(vector,(0,2,2))", "0/2 0/2 1/2 1/2"), ("(vector,(0,2,1))", "0/2 1/2 0/2 1/2"),
                              ("", "0/1 0/1 0/1 0/1"), ("(vector,(nonsense", "0/1 0/1 0/1 0/1")):
            done = server("--map=" + nodes, "-n", 4, DRIVER, PMI, "info")
            self.assertEqual(self.infos(done, r"node=(\S+)"), places.split(), nodes)

    def test_abort(self):
        for dialect in (1, 2):
            self.assertEqual(server("--dialect", dialect, "-n", 3, DRIVER, PMI, "abort", 1).returncode, 42)

    def test_a_rank_that_dies(self):
        self.assertEqual(server("-n", 3, DRIVER, PMI, "crash", 1).returncode, 139)

    def test_a_late_rank(self):
        for dialect in (1, 2):
            done = server("--dialect", dialect, "-n", 3, DRIVER, PMI, "late", 1)
            self.assertEqual((done.returncode, done.stderr), (0, b""), done)
            self.assertEqual(done.stdout.count(b"after 0.2 s not all 3 ranks of job kvs_7-"), 2)

    def test_a_rank_that_never_joins(self):
        done = server("-n", 2, "sh", "-c", f'test "$PMI_RANK" = 1 && exec sleep 1; exec {DRIVER} {PMI} modex',
                      DRIVER_start_timeout="300ms")
        self.assertIn(b"after 0.3 s not all 2 ranks have joined (launch.pmi.start_timeout)", done.stdout)

    def test_a_rank_that_leaves_before_the_fence(self):
        done = server("-n", 2, "sh", "-c", f'test "$PMI_RANK" = 1 && exit 0; exec {DRIVER} {PMI} modex',
                      DRIVER_start_timeout="300ms")
        self.assertIn(b"not all 2 ranks have joined", done.stdout)

    def test_launchers_that_do_not_do_their_part(self):
        sentences = {"silent": "has not answered '{}' within 0.3 s (launch.pmi.answer_timeout)",
                     "close": "the connection to the launcher was lost at '{}'", "noise": "the launcher's answer to '{}' is none of",
                     "endless": "the launcher's answer to '{}' is none of", "other": "the launcher's answer to '{}' is none of"}
        commands = {1: ("init", "get_maxes", "get_my_kvsname", "get_universe_size", "get_appnum", "put", "get", "finalize"),
                    2: ("init", "fullinit", "job-getid", "info-getjobattr", "kvs-put", "kvs-get", "finalize")}
        for dialect in (1, 2):
            for kind, sentence in sentences.items():
                # Every question is asked in the same way, but each needs its deadline.
                for command in commands[dialect] if kind == "silent" else commands[dialect][:1] + commands[dialect][-2:-1]:
                    done = server("--dialect", dialect, "--fault", f"{kind}:{command}", "-n", 1, DRIVER, PMI, "modex",
                                  DRIVER_answer_timeout="300ms", DRIVER_protocol=f"pmi{dialect}")
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn(sentence.format(command), plain(done.stdout), (dialect, kind, command))
        for dialect, put in ((1, "put"), (2, "kvs-put")):
            done = server("--dialect", dialect, "--fault", f"refuse:{put}", "-n", 1, DRIVER, PMI, "modex")
            self.assertIn(f"the launcher has refused '{put}': no_room", plain(done.stdout))
        for dialect, fence in ((1, "barrier_in"), (2, "kvs-fence")):
            done = server("--dialect", dialect, "--fault", f"close:{fence}", "-n", 1, DRIVER, PMI, "modex")
            self.assertIn("the connection to the launcher was lost at 'fence'", plain(done.stdout))

    def test_spawned_by_another_library(self):
        done = server("--env", "PMI_SPAWNED=1", "-n", 1, DRIVER, PMI, "modex")
        self.assertIn(b"processes of another MPI library have spawned it", done.stdout)
        self.right(server("--env", "PMI_SPAWNED=0", "-n", 1, DRIVER, PMI, "modex"), 1)

    def test_children_of_a_rank_are_not_the_rank(self):
        done = server("-n", 2, DRIVER, PMI, "child", f"{DRIVER} {PMI} query")
        self.assertEqual(done.stdout.count(b"which PMI_FD names, is not open here"), 2, done)
        done = server("-n", 2, DRIVER, PMI, "child", f"{DRIVER} {SINGLETON} modex")
        self.assertEqual(done.stdout.count(b"its descriptor (PMI_FD) is not open here"), 2, done)

    def test_a_program_of_mpi(self):
        if not os.path.exists(SENDRECV):
            self.skipTest("there is no MPI program")
        for dialect in (1, 2):
            for ranks in (1, 4):
                self.assertEqual(server("--dialect", dialect, "-n", ranks, SENDRECV).returncode, 0)
        # PMI is joined after PMIx, which some launchers serve as well, and may be chosen.
        done = server("-n", 2, SENDRECV, PMIX_NAMESPACE="job", PMIX_RANK="0")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("PMIx_Init", plain(done.stderr))
        self.assertEqual(server("-n", 2, SENDRECV, PMIX_NAMESPACE="job", PMIX_RANK="0", ASHLAR_launch="pmi").returncode, 0)

    def test_further_jobs(self):
        if not os.path.exists(SPAWN):
            self.skipTest("there is no MPI program")
        self.assertEqual(server("-n", 2, SPAWN).returncode, 0)

    def test_no_silent_singletons(self):
        if not os.path.exists(SENDRECV):
            self.skipTest("there is no MPI program")
        for choice in ("^pmi", "singleton"):
            done = server("-n", 2, SENDRECV, ASHLAR_launch=choice)
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(plain(done.stderr), r"launched beside others \(a PMI launcher such as MPICH's mpiexec: PMI_RANK=. PMI_SIZE=2\)")
        done = server("-n", 2, "bash", "-c", f"eval exec $PMI_FD\\>\\&-; exec {SENDRECV}")
        self.assertIn("its descriptor (PMI_FD) is not open here", plain(done.stderr))


@unittest.skipUnless(HYDRA, "mpiexec.hydra of MPICH is not installed")
class Hydra(JobTest):
    def test_exchange(self):
        for ranks in (1, 2, 4, 16):
            for protocol in ("auto", "pmi2"):
                self.right(launch(HYDRA, "-n", ranks, DRIVER, PMI, "modex", DRIVER_protocol=protocol), ranks)

    def test_exchange_over_a_port(self):
        self.right(launch(HYDRA, "-pmi-port", "-n", 3, DRIVER, PMI, "modex"), 3)

    def test_segments(self):
        done = launch(HYDRA, "-n", 2, DRIVER, PMI, "info", ":", "-n", 1, DRIVER, PMI, "info")
        self.assertEqual(self.infos(done, r"appnum=(\d)"), ["0", "0", "1"])
        self.assertEqual(self.infos(done, r"launcher=(Hydra)"), ["Hydra"] * 3)

    def test_ends(self):
        self.assertEqual(launch(HYDRA, "-n", 3, DRIVER, PMI, "abort", 1).returncode, 42)
        self.assertEqual(launch(HYDRA, "-n", 3, DRIVER, PMI, "crash", 1).returncode, 11)
        self.assertEqual(launch(HYDRA, "-n", 3, DRIVER, PMI, "code", 1).returncode, 9)

    def test_programs_of_mpi(self):
        if not os.path.exists(SENDRECV):
            self.skipTest("there is no MPI program")
        for ranks in (1, 2, 4, 16):
            done = launch(HYDRA, "-n", ranks, SENDRECV)
            self.assertEqual((done.returncode, done.stderr), (0, b""), done)
        if os.path.exists(SPAWN):
            self.assertEqual(launch(HYDRA, "-usize", 16, "-n", 2, SPAWN).returncode, 0)

    def test_one_program_after_another(self):
        done = launch(HYDRA, "-n", 2, "sh", "-c", f"{DRIVER} {PMI} modex; {DRIVER} {PMI} modex")
        self.assertEqual(done.stdout.count(b"of 2 ok"), 2, done)
        self.assertIn(b"a program that was this rank before has left the job", done.stdout)

    def test_no_file_is_left(self):
        with tempfile.TemporaryDirectory() as tmp:
            launch(HYDRA, "-n", 2, DRIVER, PMI, "modex", TMPDIR=tmp)
            self.assertEqual(os.listdir(tmp), [])


if __name__ == "__main__":
    main(at_once=3)
