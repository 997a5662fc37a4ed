#!/usr/bin/env python3
"""What tools are told of the calls of a job, and what becomes of what they record."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import MPIEXEC, SANITIZED, SUPPORT, mpiexec, plain

PROGRAM = os.path.join(os.path.dirname(os.environ["STUCK"]), "tool_program")
PROBES = os.environ["PROBES"]
WRAPPERS = os.path.join(SUPPORT, "libashlar_tool.so")
ENVIRONMENT = {**os.environ, "ASHLAR_plugin_path": PROBES}
if SANITIZED:   # its library comes after ours
    ENVIRONMENT["ASAN_OPTIONS"] = "verify_asan_link_order=0:detect_leaks=0"


def run(*words, tool="probe", ranks=4, **options):
    return mpiexec("--tool", tool, *words[:-1], "-n", ranks, PROGRAM, words[-1], env=ENVIRONMENT, **options)


class Calls(unittest.TestCase):
    def lines(self, part, *options, ranks=4):
        """rank -> the lines of its probe, without those of MPI_Init and the like."""
        done = run(*options, part, ranks=ranks)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        found = {}
        for rank, line in re.findall(r"^probe (\d+): (.*)$", done.stdout.decode(), re.M):
            found.setdefault(int(rank), []).append(line)
        return found

    def test_the_first_and_the_last(self):
        for rank, lines in self.lines("nothing").items():
            at = f"on='MPI_COMM_WORLD' at={rank}/4"
            self.assertEqual(lines, ["enter MPI_Init_thread", "leave MPI_Init_thread",
                                     f"enter MPI_Comm_rank {at}", f"leave MPI_Comm_rank {at}",
                                     f"enter MPI_Comm_size {at}", f"leave MPI_Comm_size {at}",
                                     "enter MPI_Finalize", "destroyed"])

    def test_point_to_point(self):
        lines = self.lines("pt2pt", "--set", "tool.probe.only=MPI_Send,MPI_Send_c,MPI_Recv,MPI_Probe,MPI_Sendrecv")
        on = "on='MPI_COMM_WORLD' at="
        self.assertEqual(lines[0][:4], [
            f"enter MPI_Send {on}0/4 to=1 to_world=1 send_tag=5 out=40",
            f"leave MPI_Send {on}0/4 to=1 to_world=1 send_tag=5 out=40",
            f"enter MPI_Send_c {on}0/4 to=1 to_world=1 send_tag=6 out=56",
            f"leave MPI_Send_c {on}0/4 to=1 to_world=1 send_tag=6 out=56"])
        self.assertEqual(lines[1][:6], [
            f"enter MPI_Recv {on}1/4 from=-1 receive_tag=-2 in=400",
            f"leave MPI_Recv {on}1/4 from=0 from_world=0 receive_tag=5 in=40",
            f"enter MPI_Probe {on}1/4 from=0 from_world=0 receive_tag=6",
            f"leave MPI_Probe {on}1/4 from=0 from_world=0 receive_tag=6 in=56",
            f"enter MPI_Recv {on}1/4 from=0 from_world=0 receive_tag=6 in=56",
            f"leave MPI_Recv {on}1/4 from=0 from_world=0 receive_tag=6 in=56"])
        self.assertEqual(lines[3], [
            f"enter MPI_Sendrecv {on}3/4 to=0 to_world=0 send_tag=1 from=2 from_world=2 receive_tag=1 out=12 in=200",
            f"leave MPI_Sendrecv {on}3/4 to=0 to_world=0 send_tag=1 from=2 from_world=2 receive_tag=1 out=12 in=12",
            f"enter MPI_Send {on}3/4 to=-3 send_tag=0 out=4",
            f"leave MPI_Send {on}3/4 to=-3 send_tag=0 out=4", "destroyed"])

    def test_requests(self):
        names = "MPI_Irecv,MPI_Isend,MPI_Wait,MPI_Waitall,MPI_Send_init,MPI_Start,MPI_Request_free"
        on = "on='MPI_COMM_WORLD' at="
        self.assertEqual(self.lines("requests", "--set", "tool.probe.only=" + names)[2], [
            f"enter MPI_Irecv {on}2/4 from=-1 receive_tag=2 in=64",
            f"leave MPI_Irecv {on}2/4 from=-1 receive_tag=2 in=64 request=1",
            f"enter MPI_Isend {on}2/4 to=3 to_world=3 send_tag=2 out=16",
            f"leave MPI_Isend {on}2/4 to=3 to_world=3 send_tag=2 out=16 request=1",
            "enter MPI_Wait request=1", "leave MPI_Wait from=1 receive_tag=2 in=16 request=1",
            "enter MPI_Waitall requests=1", "leave MPI_Waitall requests=1",
            f"enter MPI_Send_init {on}2/4 to=-3 send_tag=3 out=8",
            f"leave MPI_Send_init {on}2/4 to=-3 send_tag=3 out=8 request=1",
            "enter MPI_Start request=1", "leave MPI_Start request=1",
            "enter MPI_Wait request=1", "leave MPI_Wait from=-3 receive_tag=3 request=1",
            "enter MPI_Request_free request=1", "leave MPI_Request_free request=1", "destroyed"])

    def test_several_requests_and_messages_in_parts(self):
        names = "MPI_Precv_init,MPI_Psend_init,MPI_Startall,MPI_Waitall"
        on = "on='MPI_COMM_WORLD' at="
        self.assertEqual([line for line in self.lines("several", "--set", "tool.probe.only=" + names)[1] if line[0] == "l"], [
            "leave MPI_Startall requests=2", "leave MPI_Waitall requests=2",
            f"leave MPI_Precv_init {on}1/4 from=0 from_world=0 receive_tag=5 in=64 request=1",
            f"leave MPI_Psend_init {on}1/4 to=2 to_world=2 send_tag=5 out=64 request=1",
            "leave MPI_Startall requests=2", "leave MPI_Waitall requests=2"])

    def test_collectives(self):
        names = ("Bcast,Gather,Scatterv,Allgather,Alltoall,Allgatherv,Reduce_scatter,Reduce_scatter_block,Allreduce,Barrier")
        only = ",".join("MPI_" + name for name in names.split(","))
        lines = self.lines("collectives", "--set", "tool.probe.only=" + only)

        def calls(rank):
            return [line.replace(f" on='MPI_COMM_WORLD' at={rank}/4", "")[10:] for line in lines[rank] if line[0] == "l"]
        self.assertEqual(calls(1), [
            "Bcast root=2 in=100", "Gather root=1 out=8 in=32", "Gather root=1 in=32", "Scatterv root=0 in=8",
            "Allgather out=8 in=32", "Alltoall out=32 in=32", "Allgatherv out=8 in=40", "Reduce_scatter out=40 in=8",
            "Reduce_scatter_block out=32 in=8", "Allreduce out=16 in=16", "Barrier"])
        self.assertEqual(calls(2)[:4], ["Bcast root=2 out=100", "Gather root=1 out=8", "Gather root=1 out=8",
                                        "Scatterv root=0 in=12"])
        self.assertEqual(calls(0)[3], "Scatterv root=0 out=40 in=4")

    def test_communicators(self):
        lines = self.lines("communicators", "--set", "tool.probe.only=MPI_Sendrecv,MPI_Send,MPI_Recv,MPI_Bcast")
        self.assertEqual(lines[3][0], "enter MPI_Sendrecv on='odd ones' at=1/2 to=0 to_world=1 send_tag=0 "
                                      "from=0 from_world=1 receive_tag=0 out=4 in=4")
        inter = re.sub(r"on='[^']*' ", "", "\n".join(lines[2]))
        self.assertIn("leave MPI_Recv at=1/2 from=0 from_world=1 receive_tag=0 in=6", inter)
        self.assertIn("enter MPI_Bcast at=1/2 root=-3\n", inter)                # beside the root: nothing moves
        self.assertRegex(lines[0][-2], r"leave MPI_Bcast on='.*' at=0/2 root=-4 out=8")
        self.assertRegex(lines[1][-2], r"leave MPI_Bcast on='.*' at=0/2 root=0 in=8")
        self.assertRegex(lines[0][2], r"enter MPI_Send on='.*' at=0/2 to=1 to_world=3 send_tag=0 out=6")

    def test_calls_that_fail(self):
        lines = self.lines("errors", "--set", "tool.probe.only=MPI_Send,MPI_Reduce_scatter,MPI_Recv")[0]
        left = [line for line in lines if line.startswith("leave")]
        self.assertRegex(left[0], r"leave MPI_Send .* to=77 send_tag=0 out=4 result=\d+")
        self.assertRegex(left[1], r"leave MPI_Send .* to=1 to_world=1 send_tag=0 result=\d+")
        self.assertRegex(left[2], r"leave MPI_Send .* to=1 to_world=1 send_tag=0 result=\d+")
        self.assertRegex(left[3], r"leave MPI_Reduce_scatter result=\d+")
        self.assertRegex(left[4], r"leave MPI_Recv .* from=-3 receive_tag=-2$")

    def test_performance_variables(self):
        for name, told in (("coll.barrier.", 0), ("coll.allreduce.recursive_doubling", 1), ("nothing.at.all", 0)):
            lines = self.lines("threads", "--set", "tool.probe.only=MPI_Finalize", "--set", "coll=^shm", "--set",
                               "coll.allreduce.algorithm=recursive_doubling", "--set", "tool.probe.variable=" + name, ranks=2)
            self.assertEqual(lines[0][1], f"variable {told} {400 * told}")

    def test_threads(self):
        for lines in self.lines("threads", "--set", "tool.probe.only=MPI_Allreduce", ranks=2).values():
            self.assertEqual(sum(line.startswith("enter") for line in lines), 400)
            self.assertEqual(sum(line.startswith("leave") for line in lines), 400)

    def test_sessions(self):
        for lines in self.lines("session", ranks=2).values():
            names = [line for line in lines if line.startswith("leave")]
            self.assertEqual([re.sub(" .*", "", n[6:]) for n in names].count("MPI_Session_finalize"), 2)
            self.assertEqual(sum("MPI_Barrier" in n for n in names), 2)
            self.assertEqual(lines[-1], "destroyed")


class Events(unittest.TestCase):
    def lines(self, part, *options, wanted, ranks=4):
        done = run("--set", "tool.probe.events=" + wanted, "--set", "tool.probe.only=MPI_Recv,MPI_Bcast", *options, part, ranks=ranks)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return [[line for r, line in re.findall(r"^probe (\d+): (.*)$", done.stdout.decode(), re.M) if int(r) == rank]
                for rank in range(ranks)]

    def test_what_happens_between_enter_and_leave(self):
        lines = self.lines("events", "--set", "coll=^shm", "--set", "coll.bcast.algorithm=linear",
                           wanted="coll.begin,coll.end,p2p.message_unexpected,p2p.message_matched,p2p.rendezvous_end")
        bcast = [i for i, line in enumerate(lines[3]) if "MPI_Bcast" in line]
        self.assertEqual(len(bcast), 2)
        self.assertEqual([re.sub(" number=.*", "", line) for line in lines[3][bcast[0]:bcast[1] + 1] if "message" not in line], [
            lines[3][bcast[0]], "event coll.begin collective='bcast' algorithm='linear' context=0",
            "event coll.end collective='bcast' algorithm='linear' context=0", lines[3][bcast[1]]])
        received = [line for line in lines[1] if "tag=9 " in line or "tag=8 " in line]
        self.assertRegex("\n".join(received), r"event p2p.message_matched context=0 source=0 tag=8 bytes=1048576 unexpected=[01] rendezvous=1\n")
        self.assertRegex("\n".join(received), r"event p2p.rendezvous_end how='received .*' context=0 peer=0 tag=8 bytes=1048576 ")
        self.assertIn("event p2p.message_unexpected context=0 source=0 tag=9 bytes=16", lines[1])
        self.assertIn("event p2p.message_matched context=0 source=0 tag=9 bytes=16 unexpected=1 rendezvous=0", lines[1])
        self.assertEqual(sum("p2p.rendezvous_end how='sent" in line for line in lines[0]), 1)

    def test_only_what_is_wanted(self):
        for lines in self.lines("events", wanted="coll.end"):
            self.assertEqual({line.split()[1] for line in lines if line.startswith("event")}, {"coll.end"})
        for lines in self.lines("events", wanted=""):
            self.assertEqual([line for line in lines if line.startswith("event")], [])

    def test_two_tools_hear_them(self):
        done = run("--set", "tool.probe.events=coll.begin", "--set", "tool.probe2.events=coll.begin,coll.end", "events",
                   tool="probe,probe2")
        of = {name: re.findall(rf"^{name} 2: event (\S+)", done.stdout.decode(), re.M) for name in ("probe", "probe2")}
        self.assertEqual(of, {"probe": ["coll.begin"] * 2, "probe2": ["coll.begin", "coll.end"] * 2})

    def test_threads(self):
        for lines in self.lines("threads", wanted="coll.begin", ranks=2):
            self.assertGreaterEqual(sum("coll.begin collective='allreduce'" in line for line in lines), 400)


class Job(unittest.TestCase):
    def test_a_killed_rank_is_read(self):
        done = run("killed")
        out = done.stdout.decode()
        self.assertEqual(done.returncode, 137)
        self.assertIn("probe rank 1 status 9 finalized 0", out)
        self.assertRegex(out, r"probe 1: leave MPI_Barrier")
        self.assertNotIn("probe 1: destroyed", out)

    def test_a_tool_that_calls_mpi_is_not_told_of_its_calls(self):
        told = []
        for calls in "no", "yes":
            done = run("--set", f"tool.probe.calls={calls}", "pt2pt", ranks=2)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            told.append(sorted(re.findall(r"^probe (\d+: enter \w+)", done.stdout.decode(), re.M)))
        self.assertGreater(len([call for call in told[0] if "Send" in call or "Recv" in call]), 2)
        self.assertEqual(told[0], told[1])

    def test_a_tool_that_closes_itself_stays(self):
        done = run("--set", "tool.probe.calls=closes", "pt2pt")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn("probe 3: destroyed", done.stdout.decode())

    def test_two_tools_see_the_same(self):
        done = run("pt2pt", tool="probe,probe2")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        of = {name: re.findall(rf"^{name} (\d+: .*)$", done.stdout.decode(), re.M) for name in ("probe", "probe2")}
        self.assertGreater(len(of["probe"]), 40)
        self.assertEqual(of["probe"], of["probe2"])

    def test_a_full_buffer_stays_within_bounds(self):
        done = run("--set", "tools.buffer=64KiB", "many", tool="probe,probe2", ranks=1)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        for name in ("probe", "probe2"):
            self.assertRegex(done.stdout.decode(), rf"{name} 0: \d{{6}} lines lost")

    def test_two_programs_in_turn_are_one_rank(self):
        done = mpiexec("--tool", "probe", "--set", "tool.probe.only=MPI_Comm_size", "-n", 1, "sh", "-c",
                       f"{PROGRAM} many; {PROGRAM} nothing", env=ENVIRONMENT)
        self.assertEqual(re.findall(r"^probe 0: (\w+)", done.stdout.decode(), re.M), ["enter", "leave", "destroyed"])

    def test_no_tool_no_library(self):
        done = mpiexec("-n", 1, "sh", "-c", "echo ${LD_PRELOAD-none}", env=ENVIRONMENT)
        self.assertEqual(done.stdout, b"none\n")

    def test_preloads_of_the_user_stay(self):
        done = mpiexec("--tool", "probe", "-x", "LD_PRELOAD=/other.so", "-n", 1, "/bin/sh", "-c", "echo $LD_PRELOAD",
                       env=ENVIRONMENT)
        self.assertRegex(done.stdout, rb"libashlar_tool.so:/other.so\n")

    def test_a_component_that_fails_does_not_fail_the_job(self):
        done = run("--set", "tool.probe.crash=job_end", "pt2pt")
        self.assertEqual(done.returncode, 0)
        self.assertIn("the tools' report ended by a signal: Segmentation fault", plain(done.stderr))
        done = run("--set", "tool.probe.crash=create", "pt2pt")
        self.assertEqual(done.returncode, 0)
        self.assertIn("tool.probe does not watch this job: create was told to fail", plain(done.stderr))
        self.assertEqual(plain(done.stderr).count("does not watch"), 1)

    def test_samples_while_the_job_runs(self):
        done = mpiexec("--tool", "probe", "--set", "tool.probe.samples=1", "--set", "tools.refresh=50ms", "-n", 1, PROGRAM, "nothing",
                       ":", "-n", 1, "sh", "-c", f"{PROGRAM} nothing; sleep 1", env=ENVIRONMENT)
        out = done.stdout.decode()
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertRegex(out, r"probe sample: rank 0 running 0 finalized 1 used 1\nprobe sample: rank 1 running 1 finalized 1 used 1\n")
        self.assertGreater(out.count("sample: rank 1"), 3)
        self.assertLess(out.rindex("sample"), out.index("probe rank 0 status 0"))   # none after the end

    def test_no_samples(self):
        for options in (("tools.refresh=0", "tool.probe.samples=1"), ("tools.refresh=50ms", "tool.probe.samples=0")):
            sets = [word for option in options for word in ("--set", option)]
            done = mpiexec("--tool", "probe", *sets, "-n", 1, "sleep", "0.3", env=ENVIRONMENT)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertNotIn(b"sample", done.stdout)

    def test_a_component_that_fails_in_a_sample(self):
        done = mpiexec("--tool", "probe", "--set", "tool.probe.crash=job_sample", "--set", "tools.refresh=20ms", "-n", 1, PROGRAM,
                       "nothing", ":", "-n", 1, "sh", "-c", f"{PROGRAM} nothing; sleep 0.4", env=ENVIRONMENT)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(plain(done.stderr).count("the tools' report ended by a signal: Segmentation fault"), 1)
        self.assertIn(b"probe rank 0 status 0 finalized 1", done.stdout)

    def test_names_that_do_not_exist(self):
        done = run("pt2pt", tool="prob")
        self.assertEqual(done.returncode, 2)
        self.assertIn("there is no tool component called 'prob' (did you mean 'probe'?)", plain(done.stderr))

    def test_without_mpiexec(self):
        alone = {**ENVIRONMENT, "ASHLAR_tool": "probe"}
        done = subprocess.run([PROGRAM, "nothing"], capture_output=True, timeout=60, env=alone)
        self.assertEqual(done.returncode, 0)
        self.assertIn("No tool watches the MPI calls of this job", plain(done.stderr))
        self.assertIn("libashlar_tool.so", plain(done.stderr))
        done = subprocess.run([PROGRAM, "nothing"], capture_output=True, timeout=60, env={**alone, "LD_PRELOAD": WRAPPERS})
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn(b"probe 0: leave MPI_Init_thread", done.stdout)

    def test_the_wrappers_are_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("bin", "lib"):
                shutil.copytree(os.path.join(os.path.dirname(MPIEXEC), "..", name), os.path.join(folder, name), symlinks=True)
            os.remove(os.path.join(folder, os.path.relpath(WRAPPERS, os.path.join(os.path.dirname(MPIEXEC), ".."))))
            done = subprocess.run([os.path.join(folder, "bin/mpiexec"), "--tool", "probe", "-n", "1", PROGRAM],
                                  capture_output=True, timeout=60, env=ENVIRONMENT)
            self.assertEqual(done.returncode, 127)
            self.assertIn("no tool can watch the ranks' calls:", plain(done.stderr))


if __name__ == "__main__":
    unittest.main()
