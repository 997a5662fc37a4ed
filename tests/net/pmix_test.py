#!/usr/bin/env python3
"""Programs that speak PMIx, in jobs on several hosts. As hosts_test.py; and PMIX: the program pmix_program.c."""
import os
import re
import sys
import tempfile
import time

from hosts_test import BIN, MPIEXEC, HostsTest, flat, run_tests

PMIX = os.path.abspath(os.environ.get("PMIX", os.path.join(BIN, "../net/pmix_program")))


class PmixTest(HostsTest):
    PLACES = ("a:2,b:2", "a,b,c", "c:2,b:1", "b:3")

    def all_ok(self, *words, hosts="a,b", ranks=4, options=(), **more):
        done = self.run_job("--bind-to", "none", *options, "--host", hosts, "-n", ranks, PMIX, *words, **more)
        self.assertEqual(done.stdout.count(": ok"), ranks, done.stdout + done.stderr)
        return done

    def everywhere(self, *words):
        for hosts in self.PLACES:
            with self.subTest(hosts=hosts):
                ranks = sum(int(host.split(":")[1]) for host in hosts.split(",")) if ":" in hosts else 6
                self.assertEqual(self.all_ok(*words, hosts=hosts, ranks=ranks).stderr, "")


class JobTest(PmixTest):
    def test_what_ranks_are_told_of_their_job(self):
        out = self.all_ok("info", hosts="a:2,b:1,c:3", ranks=6).stdout
        where = "a:0:0 a:0:1 b:1:0 c:2:0 c:2:1 c:2:2"
        peers = {"a": "0,1", "b": "2", "c": "3,4,5"}
        for rank, host in enumerate("aabccc"):
            count = len(peers[host].split(","))
            self.assertIn(f"rank {rank} of 6 on {host}: peers {peers[host]}, {count} of them, resolved {count}, leader "
                          f"{peers[host][0]}, nodes 3 (a,b,c), all {where}\n", out)

    def test_ranks_in_turn(self):
        out = self.all_ok("info", hosts="a,b", ranks=5, options=["--map-by", "node"]).stdout
        self.assertIn("rank 3 of 5 on b: peers 1,3, 2 of them, resolved 2, leader 1, nodes 2 (a,b), all "
                      "a:0:0 b:1:0 a:0:1 b:1:1 a:0:2\n", out)

    def test_no_rank_beside_mpiexec(self):
        out = self.all_ok("info", hosts="c:1,b:1", ranks=2).stdout
        self.assertIn("rank 0 of 2 on c: peers 0, 1 of them, resolved 1, leader 0, nodes 2 (c,b), all c:0:0 b:1:0\n", out)
        out = self.all_ok("info", hosts="b", ranks=2).stdout
        self.assertIn("rank 1 of 2 on b: peers 0,1, 2 of them, resolved 2, leader 0, nodes 1 (b), all b:0:0 b:0:1\n", out)

    def test_fences_with_and_without_data(self):
        self.everywhere("fence")

    def test_a_large_fence(self):
        self.all_ok("large", 1000000, hosts="a,b,c", ranks=6)

    def test_a_fence_beyond_the_limit(self):
        done = self.all_ok("large", 200000, options=["--set", "mpiexec.pmix_data=256KiB"])
        self.assertEqual(done.stdout.count("the fence: OUT-OF-RESOURCE"), 4, done.stdout)

    def test_values_on_demand(self):
        self.everywhere("demand")

    def test_names(self):
        self.everywhere("publish")

    def test_connect_and_disconnect(self):
        self.everywhere("connect")

    def test_events(self):
        self.everywhere("notify")

    def test_the_servers_are_explained(self):
        err = flat(self.all_ok("fence", hosts="a,b,c", ranks=3, options=["--explain=launch"]).stderr)
        self.assertRegex(err, r"launch, PMIx: a server on each of 3 hosts; 32768 KiB in a fence .*needed by \S*pmix_program")

    def test_hosts_behind_others(self):
        for action in "fence", "demand", "publish":
            self.all_ok(action, hosts="a,b,c", ranks=6, options=["--set", "mpiexec.tree_from=2", "--set", "mpiexec.tree_width=1"])


class SpawnTest(PmixTest):
    def children(self, *words, ranks=2, options=(), count=2, keys=()):
        done = self.run_job("--bind-to", "none", *options, *words, "-n", ranks, PMIX, "spawn", count, *keys)
        self.assertEqual(done.stdout.count(": ok"), ranks + count, done.stdout + done.stderr)
        return "".join(sorted(re.findall(r"child \d of \d on (\w)", done.stdout)))

    def test_children_on_all_hosts(self):
        self.assertEqual(self.children("--host", "a,b", count=4), "aabb")
        self.assertEqual(self.children("--host", "c,b", ranks=4, count=3), "bcc")

    def test_hosts_that_the_program_names(self):
        self.assertEqual(self.children("--host", "a,b", keys=["pmix.host=c"]), "cc")

    def test_a_job_that_does_not_start(self):
        done = self.run_job("--host", "a,b", "-n", 2, PMIX, "spawn", 2, "pmix.host=nowhere")
        self.assertIn("not spawned: JOB FAILED TO LAUNCH", done.stdout)
        self.assertEqual(done.stdout.count(": ok"), 2, done.stdout)


class EndTest(PmixTest):
    def test_abort(self):
        err = flat(self.run_job("--host", "a,b", "-n", 4, PMIX, "abort", 3, status=42).stderr)
        self.assertRegex(err, r"rank 3 of 4 .*on b.*42.*as it was told")
        self.assertTrue(self.cluster.none_left(PMIX))

    def test_a_killed_rank_ends_the_rest(self):
        self.run_job("--host", "a,b", "-n", 4, PMIX, "death", 3, status=137)
        self.assertTrue(self.cluster.none_left(PMIX))

    def test_others_hear_of_a_death_and_go_on(self):
        for victim, hosts in ((1, "a:2,b:2"), (2, "a:2,b:1,c:1"), (3, "a:2,b:2")):
            with self.subTest(victim=victim, hosts=hosts):
                done = self.run_job("--keep-going", "--host", hosts, "-n", 4, PMIX, "death", victim, status=137)
                self.assertEqual(done.stdout.count(": ok"), 3, done.stdout + done.stderr)

    def stuck(self, *options):
        process = self.start_job("--bind-to", "none", *options, "--host", "a:1,b:1,c:1", "-n", 3, PMIX, "stuck", 2, ready=3)
        time.sleep(0.3)  # the others enter the fence
        daemons = [pid for pid in self.cluster.processes("c", "--daemon") if self.cluster.name_of(pid) == "mpiexec"]
        self.assertEqual(len(daemons), 1)
        self.cluster.kill(daemons[0])
        return process

    def test_a_host_is_lost_within_a_fence(self):
        status, _, err, seconds = self.end_of(self.stuck(), 30)
        self.assertEqual(status, 1)
        self.assertRegex(err, r"rank 2 of 3 .*was lost with its host")
        self.assertTrue(self.cluster.none_left(PMIX))

    def test_the_others_go_on_without_a_lost_host(self):
        status, out, err, _ = self.end_of(self.stuck("--keep-going"), 30)
        self.assertEqual(out.count("the fence: PARTIAL SUCCESS"), 2, out + err)
        self.assertEqual(out.count(": ok"), 2, out + err)
        self.assertNotEqual(status, 0)
        self.assertTrue(self.cluster.none_left(PMIX))

    def test_nothing_is_left(self):
        with tempfile.TemporaryDirectory() as folder:
            self.all_ok("fence", options=["-x", f"TMPDIR={folder}"], env=dict(os.environ, TMPDIR=folder))
            self.assertEqual(os.listdir(folder), [])
        self.assertTrue(self.cluster.none_left(PMIX))


class LibraryTest(PmixTest):
    SIZE = 2

    def test_a_host_without_the_library(self):
        """libpmix is an empty file on host b."""
        maps = self.run_job("-n", 1, sys.executable, "-c", f"import subprocess; print(subprocess.run(['ldd', {PMIX!r}], "
                            "capture_output=True, text=True).stdout)").stdout
        library = os.path.realpath(re.search(r"libpmix\S* => (\S+)", maps).group(1))
        self.cluster.inside("b", "mount", "--bind", "/dev/null", library)
        self.addCleanup(self.cluster.inside, "b", "umount", library)
        err = flat(self.run_job("--host", "a,b", "-n", 2, PMIX, "fence", status=127).stderr)
        self.assertRegex(err, r"cannot start ranks on host b: .*the PMIx server cannot run: \S*libpmix\S*: file too short")
        self.assertTrue(self.cluster.none_left(PMIX))


if __name__ == "__main__":
    run_tests()
