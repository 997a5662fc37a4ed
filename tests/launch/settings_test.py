#!/usr/bin/env python3
"""Ranks of one job that are given different parameters: an error that names both where all need the same."""
import os
import tempfile
import unittest

from harness import mpiexec, plain

PROGRAM = os.path.join(os.path.dirname(os.environ["STUCK"]), "settings")
PMIX = ["--set", "mpiexec.pmix=on", "-genv", "ASHLAR_launch", "pmix"]


def job(first, second, *arguments, options=()):
    """Three ranks, of which the last has the second environment."""
    settings = [[word for name, value in env.items() for word in ("-env", name, value)] for env in (first, second)]
    return mpiexec(*options, "-n", 2, *settings[0], PROGRAM, *arguments, ":", "-n", 1, *settings[1], PROGRAM, *arguments)


class Settings(unittest.TestCase):
    def refused(self, *words, **how):
        """Rank 2 compares with rank 0, or either with the other when the first message goes between them."""
        done = job(**how)
        self.assertNotEqual(done.returncode, 0)
        text = plain(done.stderr)
        for word in (*words, "all ranks need the same"):
            self.assertIn(word, text)
        self.assertNotIn(b"sum", done.stdout)

    def accepted(self, first, second, *arguments):
        done = job(first, second, *arguments)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"sum 3\n", b""))

    def test_an_algorithm(self):
        self.refused("rank 0 on ", "has coll.allreduce.algorithm ring (environment ASHLAR_coll_allreduce_algorithm)",
                     "rank 2 on ", "has coll.allreduce.algorithm as built in",
                     first={"ASHLAR_coll_allreduce_algorithm": "ring"}, second={})

    def test_the_command_line_wins_everywhere(self):
        done = job({}, {"ASHLAR_coll_bcast_algorithm": "binary"}, options=["--set", "coll.bcast.algorithm=chain"])
        self.assertEqual((done.returncode, done.stdout), (0, b"sum 3\n"))

    def test_the_components(self):
        self.refused("has coll shm", "(all that are installed)", "(environment ASHLAR_coll)",
                     first={}, second={"ASHLAR_coll": "^shm"})

    def test_a_parameter_of_a_component(self):
        self.refused("coll.shm.piece 64KiB (built in)", "coll.shm.piece 8KiB (environment ASHLAR_coll_shm_piece)",
                     first={}, second={"ASHLAR_coll_shm_piece": "8192"})

    def test_checks_that_change_what_is_sent(self):
        for name in "datatypes", "collectives", "ready":
            self.refused(f"check.{name} true (environment ASHLAR_check_{name})", f"check.{name} false (built in)",
                         first={f"ASHLAR_check_{name}": "true"}, second={})

    def test_several_differences_are_counted(self):
        self.refused("2 more differ", first={"ASHLAR_coll_bcast_algorithm": "chain", "ASHLAR_coll_reference": "true",
                                             "ASHLAR_coll_node_size": "2"}, second={})

    def test_the_rules_of_tuning_files(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("one.yaml", "same.yaml", "other.yaml")]
            for path, note, segment in zip(paths, ("a", "b", "a"), ("8KiB", "8KiB", "16KiB")):
                with open(path, "w") as file:
                    file.write(f"origin: {note}\nbcast:\n  large:\n    bytes: 1MiB..\n    use: chain\n"
                               f"    segment: {segment}\n")
            one, same, other = ({"ASHLAR_coll_tuning_file": path} for path in paths)
            self.accepted(one, same)
            self.refused("coll.tuning_file of 1 rules, fingerprint", "one.yaml from environment", "other.yaml from",
                         first=one, second=other)
            self.refused("coll.tuning_file as built in", first={}, second=other)

    def test_the_same_value_in_other_words(self):
        self.accepted({"ASHLAR_coll_shm_piece": "64KiB"}, {})
        self.accepted({"ASHLAR_coll_shm_piece": "8KiB"}, {"ASHLAR_coll_shm_piece": "8192"})

    def test_parameters_of_one_process(self):
        self.accepted({"ASHLAR_coll_compare_after": "1s", "ASHLAR_runtime_start_timeout": "60s"}, {})

    def test_sessions(self):
        done = job({"ASHLAR_coll_allreduce_algorithm": "ring"}, {}, "sessions")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("coll.allreduce.algorithm ring", plain(done.stderr))
        self.assertIn("all ranks need the same", plain(done.stderr))
        self.accepted({}, {}, "sessions")

    def test_another_launcher(self):
        self.refused("has coll.allreduce.algorithm ring", "as built in", options=PMIX,
                     first={"ASHLAR_coll_allreduce_algorithm": "ring"}, second={})


if __name__ == "__main__":
    unittest.main()
