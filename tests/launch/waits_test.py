#!/usr/bin/env python3
"""What mpiexec says about a job that does not end: who waits for whom, and in which circle."""
import json
import os
import re
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from jsonschema import Draft7Validator

from harness import MPIEXEC, SANITIZED, STUCK, alive, contents, main, mpiexec, plain

INFO = os.path.join(os.path.dirname(MPIEXEC), "ashlar_info")
WORLD = "'MPI_COMM_WORLD'"
# Of this object, and of all that report=json writes.
SCHEMAS = [Draft7Validator(json.loads((Path(__file__).parents[2] / path).read_text()))
           for path in ("mpiexec/waits.schema.json", "components/report/json/report.schema.json")]


def stuck(how, ranks, seconds=1, settings=()):
    done = mpiexec("--timeout", seconds, *(word for setting in settings for word in ("--set", setting)), "-n", ranks, STUCK, how)
    return done.returncode, plain(done.stderr)


class TimeLimit(unittest.TestCase):
    def says(self, how, ranks, *sentences, seconds=1, settings=()):
        status, said = stuck(how, ranks, seconds, settings)
        self.assertEqual(status, 124, said)
        for sentence in sentences:
            self.assertIn(sentence, said)
        return said

    def test_both_receive_first(self):
        self.says("recv", 2, f"rank 0 waits in MPI_Recv from rank 1 tag 7 on {WORLD}; rank 1 waits in MPI_Recv from rank 0 "
                  f"tag 7 on {WORLD}: a cycle 0 -> 1 -> 0.")

    def test_a_ring_of_synchronous_sends(self):
        self.says("ssend", 3, f"rank 2 waits in MPI_Ssend of 4 bytes to rank 0 tag 3 on {WORLD}: a cycle 0 -> 1 -> 2 -> 0.")

    def test_a_rank_that_computes(self):
        said = self.says("computes", 3, f"ranks 0-1 wait in MPI_Barrier on {WORLD}, in which rank 2 is not; rank 2 is not inside "
                         "MPI: it computes and has not communicated for ", seconds=2.5)
        self.assertNotIn("cycle", said)

    def test_a_rank_that_is_stopped(self):
        self.says("stopped", 2, f"rank 0 waits in MPI_Recv from rank 1 any tag on {WORLD};", "rank 1 is not inside MPI: it is stopped")

    def test_a_collective_that_one_rank_has_not_entered(self):
        self.says("skipped", 4, f"ranks 0-2 wait in MPI_Allreduce on {WORLD}, which rank 3 has not entered; rank 3 waits in "
                  f"MPI_Probe for a message from rank 0 tag 5 on {WORLD}: a cycle 0 -> 3 -> 0.")

    def test_collectives_that_do_not_match(self):
        self.says("mismatch", 3, f"rank 2 waits in MPI_Reduce on {WORLD}, but rank 0 is in MPI_Barrier on {WORLD} instead: the "
                  "calls do not match", settings=["coll=^shm", "coll.compare_after=0"])

    def test_collectives_that_do_not_match_end_the_job(self):
        for settings in (), ["coll=^shm"]:
            status, said = stuck("mismatch", 3, seconds=30, settings=settings)
            self.assertNotIn(status, (0, 124), said)
            self.assertIn("the ranks are in different collectives", said)
            self.assertRegex(said, r"called MPI_(Reduce, this rank( \(\d\))? MPI_Barrier|Barrier, this rank( \(\d\))? MPI_Reduce)[.;]")

    def test_finalize(self):
        self.says("finalize", 3, f"rank 0 waits in MPI_Recv from rank 1 tag 9 on {WORLD}; ranks 1-2 wait in MPI_Finalize for "
                  "rank 0: a cycle 0 -> 1 -> 0.")

    def test_finalize_with_a_send_that_nobody_receives(self):
        said = self.says("finalize_send", 3, "rank 0 waits in MPI_Finalize for MPI_Isend of 1048576 bytes to rank 1 tag 17 "
                         f"on {WORLD}; ranks 1-2 wait in MPI_Finalize for rank 0: a cycle 0 -> 1 -> 0.")
        self.assertNotIn("unexpected", said)

    def test_disconnect(self):
        self.says("disconnect", 2, "rank 0 waits in MPI_Comm_disconnect for MPI_Issend of 4 bytes to rank 1 tag 19 on 'copy'; "
                  "rank 1 waits in MPI_Finalize for rank 0: a cycle 0 -> 1 -> 0.")

    def test_communicators_that_one_rank_does_not_make(self):
        for how, ranks, sentence in (
            ("from_group", 3, "rank 0 waits in MPI_Comm_create_from_group with string tag 'org.example.solver\\n' for rank 2;"),
            ("group", 3, f"rank 0 waits in MPI_Comm_create_group with tag 17 on {WORLD} for rank 2;"),
            ("split", 3, f"ranks 0-1 wait in MPI_Comm_split on {WORLD}, which rank 2 has not entered;"),
            ("dup", 3, f"ranks 0-1 wait in MPI_Comm_dup on {WORLD}, which rank 2 has not entered;"),
            ("cart", 3, f"ranks 0-1 wait in MPI_Cart_create on {WORLD}, which rank 2 has not entered;"),
            ("inter", 2, "rank 0 waits in MPI_Intercomm_create with tag 5 on 'MPI_COMM_SELF' for rank 1;"),
            ("inter_from_groups", 2, "rank 0 waits in MPI_Intercomm_create_from_groups with string tag 'coupler' for rank 1;"),
        ):
            said = self.says("makes_" + how, ranks, sentence, "waits in MPI_Recv from rank 0 tag 99")
            self.assertNotIn("a collective", said)

    def test_a_sender_at_a_limit_of_its_receiver(self):
        for limit, whose in ("unexpected_limit", "this rank's"), ("unexpected_total_limit", "all ranks'"):
            self.says("unexpected", 2, f"rank 0 waits in MPI_Send of 1000 bytes to rank 1 tag 23 on {WORLD}, which waits for its "
                      f"receive: rank 1 keeps 65536 bytes of {whose} unexpected messages (p2p.{limit} there);",
                      settings=[f"p2p.{limit}=64KiB"])

    def test_a_loop_of_tests(self):
        self.says("tests", 2, "rank 0 looks into MPI now and then without waiting there; under way: MPI_Irecv from rank 1 tag 11 "
                  f"on {WORLD};")

    def test_ranks_of_another_communicator(self):
        self.says("waitall", 3, "ranks 0-2 wait for MPI_Irecv from rank 0 tag 13 on 'reversed' (rank 2 of the job)")

    def test_a_rank_that_never_joined(self):
        self.says("init", 3, "ranks 0 and 2 are inside MPI_Init, where rank 1 is missing; rank 1 has not called MPI_Init")

    def test_programs_without_mpi_are_not_asked(self):
        began = time.monotonic()
        done = mpiexec("--timeout", "0.3", "-n", 2, "sleep", "20")
        self.assertEqual(plain(done.stderr), "mpiexec: the time limit of 0.3 s is over; ranks 0-1 of 2 still ran and were stopped ")
        self.assertLess(time.monotonic() - began, 5)


class Stall(unittest.TestCase):
    """Told while the job runs, without being asked for."""

    def reports(self, how, ranks, *options):
        done = mpiexec("--stall", 1, *options, "-n", ranks, STUCK, how)
        return done.returncode, plain(done.stderr).split("mpiexec: ")[1:]

    def test_told_once_and_then_the_time_limit(self):
        status, said = self.reports("recv", 2, "--timeout", 4)
        self.assertEqual(status, 124)
        self.assertEqual(len(said), 2, said)
        self.assertRegex(said[0], r"^no rank has made progress for 1 s \(watch\.stall\); the job, begun \d s ago, goes on: rank 0 "
                         rf"waits in MPI_Recv from rank 1 tag 7 on {WORLD}; .* a cycle 0 -> 1 -> 0\. $")
        self.assertTrue(said[1].startswith("the time limit of 4 s is over"), said)

    def test_told_again_after_progress(self):
        status, said = self.reports("pauses", 3)
        self.assertEqual(status, 0)
        self.assertEqual(len(said), 2, said)
        for report in said:
            self.assertRegex(report, rf"ranks 0-1 wait in MPI_Barrier on {WORLD}, in which rank 2 is not; rank 2 is not inside "
                             r"MPI: it sleeps and has not communicated for \d\.\d s")

    def test_the_call_that_a_computing_rank_was_in(self):
        _, said = self.reports("leaves", 3, "--timeout", 4)
        self.assertRegex(said[0], r"rank 2 is not inside MPI: it computes and has not communicated for \d\.\d s; it last waited "
                         rf"\d\.\d s ago, in MPI_Bcast on {WORLD}\.")

    def test_no_stall_while_some_ranks_make_progress(self):
        self.assertEqual(self.reports("chats", 3), (0, []))

    def test_no_stall_without_a_rank_inside_MPI(self):
        self.assertEqual(self.reports("sleeps", 2), (0, []))

    def test_a_rank_that_never_joins(self):
        _, said = self.reports("init", 3, "--timeout", 3)
        self.assertIn("ranks 0 and 2 are inside MPI_Init, where rank 1 is missing", said[0])

    def test_another_launcher(self):
        # Each rank knows only what it waits for itself.
        done = mpiexec("--set", "mpiexec.pmix=on", "-genv", "ASHLAR_launch", "pmix", "-genv", "ASHLAR_watch_stall", "2s",
                       "--tag-output", "--timeout", 6, "-n", 2, STUCK, "recv")
        for rank in 0, 1:
            said = plain(b"\n".join(line for line in done.stderr.splitlines() if line.startswith(b"[%d]" % rank)))
            self.assertRegex(said, rf"warning: nothing has happened for 2 s in a call of this rank; it waits in MPI_Recv from rank "
                             rf"{1 - rank} tag 7 on {WORLD}")
            self.assertEqual(said.count("warning:"), 1)

    def test_switched_off(self):
        done = mpiexec("--stall", 0, "--timeout", 2, "-n", 2, STUCK, "recv")
        self.assertEqual(plain(done.stderr).count("mpiexec: "), 1)

    def test_a_wrong_value(self):
        done = mpiexec("--stall", "soon", "-n", 2, STUCK, "recv")
        self.assertEqual(done.returncode, 2)
        self.assertIn("watch.stall", plain(done.stderr))


def records(lines):
    """Lines of JSON, each held against the published schema."""
    found = [json.loads(line) for line in lines.splitlines()]
    for record in found:
        for schema in SCHEMAS:
            schema.validate(record)
    return found


class Records(unittest.TestCase):
    """With report=json the same for programs."""

    def records(self, how, ranks, *options):
        with tempfile.TemporaryDirectory() as folder:
            mpiexec("--set", "report=json", "--set", f"report.json.file={folder}/%r.json", *options, "-n", ranks, STUCK, how)
            path = os.path.join(folder, "launcher.json")
            return records(contents(path)) if os.path.exists(path) else []

    def test_a_stall_and_then_the_time_limit(self):
        stall, end = self.records("leaves", 3, "--stall", 1, "--timeout", 4)
        self.assertEqual((stall["reason"], end["reason"]), ("stall", "time_limit"))
        for record in stall, end:
            self.assertEqual([rank["state"] for rank in record["ranks"]], ["waiting", "waiting", "outside"])
            self.assertEqual((record["ranks"][0]["needs"], record["ends"]), ("2", "2"))
            self.assertEqual(record["ranks"][0]["collectives"][0]["ranks"], "0-2")
            last = record["ranks"][2]
            self.assertEqual(last["process"], "computes")
            self.assertEqual(last["newest_wait"]["collectives"][0]["text"], f"in MPI_Bcast on {WORLD}")
            self.assertGreater(last["silent_s"], 0.5)

    def test_states(self):
        for how, state in ("init", ["starting", "absent", "starting"]), ("finalize", ["waiting", "finalizing", "finalizing"]), \
                          ("tests", ["polling"] * 3):
            (record,) = self.records(how, 3, "--timeout", 1)
            self.assertEqual([rank["state"] for rank in record["ranks"]], state)

    def test_none_without_a_rank_inside_MPI_or_without_json(self):
        self.assertEqual(self.records("sleeps", 2), [])
        done = mpiexec("--timeout", 1, "-n", 2, STUCK, "recv")
        self.assertNotIn(b"{", done.stderr)

    def test_standard_error(self):
        done = mpiexec("--set", "report=json", "--timeout", 1, "-n", 2, STUCK, "recv")
        lines = [line for line in done.stderr.splitlines() if line.startswith(b"{")]
        self.assertEqual(records(b"\n".join(lines))[0]["reason"], "time_limit")

    def test_a_file_that_cannot_be_made(self):
        done = mpiexec("--set", "report=json", "--set", "report.json.file=/nonexistent/x", "--timeout", 1, "-n", 2, STUCK, "recv")
        self.assertEqual(done.returncode, 124)
        self.assertIn("mpiexec: report.json.file: /nonexistent/x: No such file or directory", plain(done.stderr))


class RunningJob(unittest.TestCase):
    """The same question to a job that goes on running."""

    def setUp(self):
        self.job = subprocess.Popen([MPIEXEC, "--set", "p2p.eager_limit=5KiB", "--set", "transport.shm.ring_bytes=12KiB",
                                     "-n", "2", STUCK, "recv"],
                                    stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL)
        for _ in range(2):
            self.assertEqual(self.job.stdout.readline(), b"ready\n")
        # A rank that has said so may not be in its call yet.
        deadline = time.monotonic() + 30
        while "a cycle" not in plain(self.info("waits", "--pid", self.job.pid).stdout) and time.monotonic() < deadline:
            time.sleep(0.05)

    def tearDown(self):
        self.job.terminate()
        self.job.stdout.close()
        self.job.wait()

    def info(self, *words):
        return subprocess.run([INFO, *map(str, words)], capture_output=True, timeout=60)

    def a_rank(self):
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat") as stat, open(f"/proc/{pid}/comm") as name:
                    if name.read() == "stuck\n" and int(stat.read().rsplit(")", 1)[1].split()[1]) == self.job.pid:
                        return int(pid)
            except OSError:
                pass
        self.fail("no rank found")

    def test_waits(self):
        for pid in self.job.pid, self.a_rank():
            for _ in range(2):
                done = self.info("waits", "--pid", pid)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(f"rank 0 waits in MPI_Recv from rank 1 tag 7 on {WORLD}; rank 1", plain(done.stdout))
                self.assertIn("a cycle 0 -> 1 -> 0.", plain(done.stdout))
        self.assertIsNone(self.job.poll())

    def test_waits_as_json(self):
        done = self.info("waits", "--pid", self.job.pid, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        (record,) = records(done.stdout)
        self.assertEqual((record["reason"], record["size"], record["cycle"]), ("query", 2, [0, 1]))
        first = record["ranks"][0]
        self.assertEqual((first["state"], first["needs"]), ("waiting", "1"))
        self.assertEqual(first["waits_for"], [{"text": f"in MPI_Recv from rank 1 tag 7 on {WORLD}", "peer": 1}])
        self.assertTrue(alive(first["pid"]))
        self.assertIn("a cycle 0 -> 1 -> 0.", record["text"])

    def test_explain(self):
        done = self.info("explain", "--pid", self.a_rank(), "p2p.eager_limit")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(plain(done.stdout), r"^p2p\.eager_limit = 5KiB from --set p2p\.eager_limit=5KiB")
        # What this process would use is another matter.
        self.assertNotIn("5KiB", plain(self.info("explain", "p2p.eager_limit").stdout))

    def test_explain_tells_what_is_used_instead(self):
        for pid in self.job.pid, self.a_rank():
            done = self.info("explain", "--pid", pid, "transport.shm.ring_bytes")
            self.assertRegex(plain(done.stdout),
                             r"^transport\.shm\.ring_bytes = 12KiB, used 8KiB: a ring's size is a power of two from --set")
            done = self.info("explain", "--pid", pid, "threads.lanes")
            self.assertRegex(plain(done.stdout),
                             r"^threads\.lanes = 4, used 1: the program did not ask for MPI_THREAD_MULTIPLE")
        done = self.info("--json", "explain", "--pid", self.job.pid, "threads.lanes")
        self.assertIn(b'"used":"1","because":"the program', done.stdout)
        self.assertNotIn("used", plain(self.info("explain", "threads.lanes").stdout))

    def test_no_such_job(self):
        done = self.info("waits", "--pid", os.getpid())
        self.assertEqual(done.returncode, 1)
        self.assertRegex(plain(done.stderr), rf"process {os.getpid()} \(.+\) is neither an mpiexec of this version nor one of its ranks")
        self.assertEqual(self.info("waits").returncode, 2)


if __name__ == "__main__":
    # What is looked at is jobs in which nothing happens; a sanitizer lets each take its cores first.
    main(at_once=1 if SANITIZED else 4)
