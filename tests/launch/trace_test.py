#!/usr/bin/env python3
"""mpiexec --trace: what stands in the page, in JSON and in Prometheus' text is what the ranks did."""
import html
import json
import os
import re
import shutil
import stat
import subprocess
import tempfile
import time
import unittest

from harness import MPIEXEC, SANITIZED, SUPPORT, mpiexec, plain, wait_until

PROGRAM = os.path.join(os.path.dirname(os.environ["STUCK"]), "trace_program")
WRAPPERS = os.path.join(SUPPORT, "libashlar_tool.so")
SCHEMA = os.path.join(os.path.dirname(MPIEXEC), "..", "share", "ashlar", "trace.schema.json")
OTF2 = os.path.join(SUPPORT, "libashlar_otf2.so")
BROWSER = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "google-chrome"))), None)
ENVIRONMENT = dict(os.environ)
if SANITIZED:   # its library comes after ours
    ENVIRONMENT["ASAN_OPTIONS"] = "verify_asan_link_order=0:detect_leaks=0"


def messages(source, to):
    return 1 + (source * 3 + to * 5) % 7


def size(source, to):
    return 10 * (source + 1) + to


def pattern(ranks):
    return [[a, b, messages(a, b), messages(a, b) * size(a, b)] for a in range(ranks) for b in range(ranks)]


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def text(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def run_job(self, *words, ranks=4, options=(), files="run.json", status=0, timeout=60):
        done = mpiexec("--trace=" + files, *options, "-n", ranks, PROGRAM, *words, env=ENVIRONMENT, cwd=self.folder, timeout=timeout)
        self.assertEqual(done.returncode, status, (done.stdout, done.stderr))
        return done

    def document(self, *words, **options):
        self.run_job(*words, **options)
        document = json.loads(self.text("run.json"))
        if os.path.exists(SCHEMA):
            check_schema(document)
        return document


def check_schema(document):
    import jsonschema
    with open(SCHEMA) as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.validate(document, schema, cls=jsonschema.Draft7Validator)


def bars(document, rank):
    """The bars of a rank: dicts with times in seconds."""
    lane = next(lane for lane in document["timeline"]["ranks"] if lane["rank"] == rank)
    unit, at, found = document["timeline"]["unit_ns"] * 1e-9, 0, []
    for i, began in enumerate(lane["began"]):
        at += began
        found.append({"began": at * unit, "took": lane["took"][i] * unit, "call": document["calls"][lane["call"][i]]["name"],
                      "peer": lane["peer"][i], "bytes": lane["bytes"][i], "comm": document["communicators"][lane["comm"][i]]["name"],
                      "calls": lane["calls"][i] if "calls" in lane else 1})
    return found


class Document(Folder):
    def test_the_matrix_is_what_the_program_sent(self):
        for ranks in (1, 4, 7):
            with self.subTest(ranks=ranks):
                document = self.document("pattern", ranks=ranks)
                self.assertEqual(document["matrix"]["cells"], pattern(ranks))
                self.assertEqual(document["matrix"]["ranks_per_cell"], 1)
                self.assertEqual(document["job"]["messages"], sum(cell[2] for cell in pattern(ranks)))
                self.assertEqual(sum(t["bytes"] for t in document["transports"]), sum(cell[3] for cell in pattern(ranks)))

    def test_the_calls_are_those_of_the_program(self):
        document = self.document("pattern", options=("--set", "tool.trace.calls=all"))
        of = {document["calls"][t["call"]]["name"]: t for t in document["totals"]}
        everything = [(a, b, i) for a in range(4) for b in range(4) for i in range(messages(a, b))]
        self.assertEqual(of["MPI_Irecv"]["calls"], len(everything))
        # 4 more to MPI_PROC_NULL, and 4 to a rank that does not exist.
        self.assertEqual(of["MPI_Send"]["calls"], sum(i % 7 == 0 for _, _, i in everything) + 8)
        self.assertEqual(of["MPI_Sendrecv"]["calls"], sum(i % 7 == 4 for _, _, i in everything))
        self.assertEqual(of["MPI_Comm_rank"]["calls"], 4)
        for total in document["totals"]:
            self.assertEqual(sum(c["calls"] for c in total["sizes"]), total["calls"])
        self.assertEqual(sum(r["calls"] for r in document["ranks"]), sum(t["calls"] for t in document["totals"]))

    def test_size_classes(self):
        document = self.document("pattern")
        classes = document["size_classes"]
        expected = {}
        for a in range(4):
            for b in range(4):
                for i in range(messages(a, b)):
                    if i % 7 == 2:
                        index = next(k for k, most in enumerate(classes) if most is None or size(a, b) <= most)
                        expected[index] = expected.get(index, 0) + 1
        ssend = next(t for t in document["totals"] if document["calls"][t["call"]]["name"] == "MPI_Ssend")
        self.assertEqual({c["class"]: c["calls"] for c in ssend["sizes"]}, expected)

    def test_times_of_the_timeline(self):
        document = self.document("imbalance")
        for rank in range(4):
            row = bars(document, rank)
            self.assertEqual([bar["began"] for bar in row], sorted(bar["began"] for bar in row))
            self.assertEqual(row[0]["call"], "MPI_Init_thread")
            self.assertEqual(row[-1]["call"], "MPI_Finalize")
            self.assertLessEqual(row[-1]["began"] + row[-1]["took"], document["job"]["seconds"])
            barriers = [bar for bar in row if bar["call"] == "MPI_Barrier"]
            self.assertEqual(len(barriers), 20)
            self.assertTrue(all(bar["comm"] == "MPI_COMM_WORLD" for bar in barriers))
        # Barriers of different ranks end together, whichever clock they were read on: after the last one has begun.
        for i in range(20):
            of_ranks = [[bar for bar in bars(document, r) if bar["call"] == "MPI_Barrier"][i] for r in range(4)]
            last = max(bar["began"] for bar in of_ranks)
            for bar in of_ranks:
                self.assertGreater(bar["began"] + bar["took"], last)
        self.assertEqual(max(document["ranks"], key=lambda r: r["computing"])["rank"], 3)
        self.assertIn("rank 3 computes", document["advice"][0]["finding"])

    def test_a_killed_rank(self):
        document = self.document("killed", status=137)
        rank = document["ranks"][3]
        self.assertEqual((rank["rank"], rank["finalized"], rank["wait_status"]), (3, False, 9))
        self.assertEqual([(document["calls"][c["call"]]["name"], c["bytes"]) for c in rank["last_calls"]],
                         [("MPI_Send", 125 + i) for i in range(25)])
        self.assertEqual(rank["in_progress"], [])
        waiting = [document["calls"][c["call"]]["name"] for c in document["ranks"][1]["in_progress"]]
        self.assertEqual(waiting, ["MPI_Recv"])
        self.assertIn([3, 0, 50, sum(range(100, 150))], document["matrix"]["cells"])
        self.assertRegex(document["warnings"][0], "ranks did not finalise MPI; rank 3 ended by signal 9")

    def test_a_job_that_is_stopped(self):
        document = self.document("stuck", options=("--timeout", "2"), ranks=2, status=124)
        self.assertEqual(document["warnings"], ["2 of 2 ranks did not finalise MPI: the job was stopped"])
        self.assertEqual([[document["calls"][c["call"]]["name"] for c in r["in_progress"]] for r in document["ranks"]],
                         [["MPI_Recv"], ["MPI_Finalize"]])

    def test_threads(self):
        document = self.document("threads", ranks=2)
        self.assertEqual(document["matrix"]["cells"], [[0, 0, 24000, 24000], [1, 1, 24000, 24000]])
        self.assertEqual([r["threads"] for r in document["ranks"]], [13, 13])
        for rank in (0, 1):
            row = [bar for bar in bars(document, rank) if bar["call"] == "MPI_Sendrecv"]
            self.assertEqual(sum(bar["calls"] for bar in row), 24000)

    def test_a_forked_child_is_not_the_rank(self):
        document = self.document("forked", ranks=2, options=("--set", "tool.trace.calls=MPI_Comm_rank"))
        self.assertEqual(document["job"]["calls"], 2)

    def test_more_calls_than_bars(self):
        document = self.document("many", "20000", options=("--set", "tool.trace.bars=1000"), ranks=2)
        count = sum(len(lane["began"]) for lane in document["timeline"]["ranks"])
        self.assertLess(count, 1300)
        self.assertGreater(count, 20)
        self.assertGreater(document["timeline"]["interval_ns"], 0)
        self.assertEqual(sum(bar["calls"] for rank in (0, 1) for bar in bars(document, rank)), document["timeline"]["calls"])
        self.assertEqual(document["matrix"]["cells"], [[0, 1, 20000, 160000], [1, 0, 20000, 160000]])

    def test_more_calls_than_memory(self):
        document = self.document("many", "60000", options=("--set", "tools.buffer=2MiB"), ranks=2)
        for rank in document["ranks"]:
            kept = [bar for bar in bars(document, rank["rank"])]
            self.assertGreater(rank["lost"], 0)
            self.assertEqual(len(kept) + rank["lost"], rank["calls"])
            self.assertEqual(kept[-1]["call"], "MPI_Finalize")        # the oldest are gone, not the newest
        self.assertRegex(" ".join(document["warnings"]), r"the oldest [\d,]+ of [\d,]+ calls are not in the timeline")
        self.assertEqual(document["matrix"]["cells"], [[0, 1, 60000, 480000], [1, 0, 60000, 480000]])

    def test_more_ranks_than_cells(self):
        document = self.document("pattern", ranks=24, options=("--set", "tool.trace.ranks=8"))
        self.assertEqual((document["matrix"]["ranks_per_cell"], document["matrix"]["side"]), (3, 8))
        cells = {}
        for a, b, count, amount in pattern(24):
            cell = cells.setdefault((a // 3, b // 3), [0, 0])
            cell[0] += count
            cell[1] += amount
        self.assertEqual({(c[0], c[1]): c[2:] for c in document["matrix"]["cells"]}, cells)
        self.assertEqual(len(document["timeline"]["ranks"]), 8)
        self.assertFalse(document["timeline"]["all_ranks"])
        self.assertEqual(len(document["ranks"]), 24)

    def test_what_the_library_decided(self):
        document = self.document("imbalance")
        self.assertIn("barrier", " ".join(a["name"] for a in document["algorithms"]))
        self.assertTrue(any(d["topic"] == "coll" or d["topic"] == "transport" for d in document["decisions"]))
        self.assertTrue(document["variables"])

    def test_what_events_tell_of_calls(self):
        for copies, how in ((True, "received by a single copy"), (False, "received in fragments")):
            options = ("--set", "coll=^shm", "--set", "coll.allreduce.algorithm=recursive_doubling") + \
                (() if copies else ("--set", "transport.shm.single_copy=false"))
            document = self.document("protocols", options=options, ranks=2)
            notes = document["timeline"]["notes"]
            self.assertEqual(notes[0], "")
            of = {lane["rank"]: [(document["calls"][c]["name"], notes[n]) for c, n in zip(lane["call"], lane["note"])]
                  for lane in document["timeline"]["ranks"]}
            for rank in (0, 1):
                self.assertEqual([n for c, n in of[rank] if c == "MPI_Allreduce"], ["recursive_doubling"] * 3)
            received = [n for c, n in of[1] if c == "MPI_Recv"]
            sent = [n for c, n in of[0] if c == "MPI_Send"]
            self.assertEqual(received, ["rendezvous, " + how] * 2)
            self.assertTrue(all(n.startswith("rendezvous, sent in ") for n in sent), sent)
            found = {p["name"]: (p["messages"], p["bytes"]) for p in document["protocols"]}
            self.assertEqual(found, {how: (2, 2 << 20), sent[0].split(", ")[1]: (2, 2 << 20)})

    def test_names_survive(self):
        document = self.document("names")
        names = [c["name"] for c in document["communicators"]]
        self.assertIn("</script><script>document.title='broken'</script>", names)
        self.assertIn("${x}%s{{y}}]]>", names)


class Prometheus(Folder):
    def test_its_form_and_figures(self):
        self.run_job("pattern", files="run.prom")
        samples = {}
        types = {}
        for line in self.text("run.prom").splitlines():
            if found := re.fullmatch(r"# TYPE (\w+) (gauge|counter)", line):
                types[found[1]] = found[2]
            elif not line.startswith("# HELP "):
                name, labels, value = re.fullmatch(r'(\w+)\{((?:\w+="(?:[^"\\]|\\.)*",?)*)\} (\S+)', line).groups()
                self.assertIn(name, types)
                samples.setdefault(name, []).append((labels, float(value)))
        self.assertEqual(sum(v for _, v in samples["ashlar_messages_total"]), sum(c[2] for c in pattern(4)))
        self.assertEqual(sum(v for l, v in samples["ashlar_calls_total"] if 'call="MPI_Irecv"' in l), sum(c[2] for c in pattern(4)))
        self.assertEqual(samples["ashlar_job_exit_status"][0][1], 0)

    def start(self, *options):
        job = subprocess.Popen([MPIEXEC, "--trace=run.prom", "--set", "tools.refresh=50ms", *options, "-n", "3", PROGRAM, "live"],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT, cwd=self.folder)
        self.addCleanup(job.kill)
        return job

    def end(self, job):
        open(self.path("go"), "w").close()
        out, err = job.communicate(timeout=60)
        self.assertEqual((job.returncode, out), (0, b""), err)
        return plain(err)

    def test_it_is_refreshed_while_the_job_runs(self):
        job = self.start()
        barriers = re.compile(r'^ashlar_calls_total\{.*call="MPI_Barrier"\} 100$', re.M)
        self.assertTrue(wait_until(lambda: os.path.exists(self.path("run.prom")) and len(barriers.findall(self.text("run.prom"))) == 3))
        text = self.text("run.prom")
        self.assertRegex(text, r"\nashlar_job_running\{.*\} 1\n")
        self.assertNotIn("exit_status", text)
        first = float(re.search(r"^ashlar_job_seconds\{.*\} (\S+)$", text, re.M)[1])
        self.assertTrue(wait_until(lambda: float(re.search(r"^ashlar_job_seconds\{.*\} (\S+)$", self.text("run.prom"), re.M)[1]) > first))
        self.assertIn("the trace of 3 ranks is in run.prom", self.end(job))
        self.assertRegex(self.text("run.prom"), r"\nashlar_job_running\{.*\} 0\n")
        self.assertIn("ashlar_job_exit_status", self.text("run.prom"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["go", "run.prom"])

    def test_what_cannot_be_refreshed_is_told_once(self):
        os.mkdir(self.path("run.prom"))
        job = self.start()
        time.sleep(0.5)
        told = self.end(job)
        self.assertEqual(told.count("run.prom could not be written while the job runs: Is a directory."), 1)
        self.assertEqual(told.count("The trace run.prom could not be written: Is a directory."), 1)

    def test_only_metrics_are_of_use_while_the_job_runs(self):
        job = self.start("--trace=run.html")
        self.assertTrue(wait_until(lambda: os.path.exists(self.path("run.prom"))))
        self.assertEqual(os.listdir(self.folder), ["run.prom"])
        self.end(job)
        self.assertEqual(sorted(os.listdir(self.folder)), ["go", "run.html", "run.prom"])

    def test_the_file_is_replaced_at_once(self):
        with open(self.path("run.prom"), "w") as file:
            file.write("old")
            file.flush()
            before = os.stat(self.path("run.prom")).st_ino
            self.run_job("null", files="run.prom")
            self.assertNotEqual(os.stat(self.path("run.prom")).st_ino, before)
        self.assertEqual(os.listdir(self.folder), ["run.prom"])


class Files(Folder):
    def test_several_and_the_summary_beside(self):
        done = self.run_job("pattern", files="a.html,b.json", options=("--trace=c.prom", "--summary", "--tool", "trace"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.html", "b.json", "c.prom"])
        self.assertIn("summary of", done.stderr.decode())
        for name in ("a.html", "b.json", "c.prom"):
            self.assertIn(f"the trace of 4 ranks is in {name}", done.stderr.decode())
        self.assertEqual(done.stdout, b"")

    def test_without_a_name(self):
        done = mpiexec("--trace", "-n", 1, PROGRAM, "null", env=ENVIRONMENT, cwd=self.folder)
        self.assertEqual((done.returncode, os.listdir(self.folder)), (0, ["trace.html"]))

    def test_wrong_names_are_told_before_the_job_starts(self):
        for name, words in (("run.txt", "--trace needs FILE.html, .json, .prom or .otf2, not"), ("run", "needs FILE.html"),
                            ("missing/run.html", "nothing can be written there: No such file or directory")):
            done = mpiexec("--trace=" + name, "-n", 1, PROGRAM, "null", env=ENVIRONMENT, cwd=self.folder)
            self.assertEqual(done.returncode, 2, name)
            self.assertIn(name, plain(done.stderr))
            self.assertIn(words, plain(done.stderr))
        done = mpiexec("--tool", "trace", "--set", "tool.trace.file=x.txt", "-n", 2, PROGRAM, "null", env=ENVIRONMENT, cwd=self.folder)
        self.assertEqual(done.returncode, 0)
        self.assertIn("tool.trace does not watch this job: 'x.txt' is no name of a trace", plain(done.stderr))

    def test_what_is_no_file_stays(self):
        os.mkdir(self.path("run.html"))
        done = mpiexec("--trace=run.html", "-n", 1, PROGRAM, "null", env=ENVIRONMENT, cwd=self.folder)
        self.assertEqual(done.returncode, 0)
        self.assertIn("The trace run.html could not be written: Is a directory", plain(done.stderr))
        os.mkfifo(self.path("run.json"))
        done = mpiexec("--trace=run.json", "-n", 1, PROGRAM, "null", env=ENVIRONMENT, cwd=self.folder)
        self.assertIn("could not be written: File exists", plain(done.stderr))
        self.assertTrue(stat.S_ISFIFO(os.lstat(self.path("run.json")).st_mode))

    def test_a_link_is_replaced_and_not_followed(self):
        with open(self.path("other"), "w") as file:
            file.write("untouched")
        os.symlink("other", self.path("run.json"))
        self.run_job("null")
        self.assertEqual(self.text("other"), "untouched")
        self.assertFalse(os.path.islink(self.path("run.json")))

    def test_the_ranks_folder_is_not_mpiexecs(self):
        os.mkdir(self.path("below"))
        self.run_job("null", options=("-wdir", self.path("below")))
        self.assertEqual(sorted(os.listdir(self.folder)), ["below", "run.json"])

    def test_without_mpiexec(self):
        done = subprocess.run([PROGRAM, "pattern"], capture_output=True, timeout=60, cwd=self.folder,
                              env={**ENVIRONMENT, "ASHLAR_tool": "trace", "ASHLAR_tool_trace_file": "run.json", "LD_PRELOAD": WRAPPERS})
        self.assertEqual((done.returncode, done.stdout), (0, b""), done.stderr)
        self.assertEqual(json.loads(self.text("run.json"))["matrix"]["cells"], pattern(1))

    def test_a_program_without_mpi(self):
        done = mpiexec("--trace=run.json", "-n", 2, "true", env=ENVIRONMENT, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, b""))


@unittest.skipUnless(os.path.exists(OTF2) and shutil.which("otf2-print"), "this build has no OTF2, or there is no otf2-print")
class Otf2(Folder):
    def events(self):
        done = subprocess.run(["otf2-print", self.path("run.otf2/traces.otf2")], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return re.findall(r"^(ENTER|LEAVE) +(\d+) +(\d+) +Region: \"(\w+)\"", done.stdout, re.M)

    def test_calls_of_the_ranks(self):
        self.run_job("pattern", files="run.otf2")
        events = self.events()
        entered = [e for e in events if e[0] == "ENTER"]
        self.assertEqual(sum(e[3] == "MPI_Irecv" for e in entered), sum(c[2] for c in pattern(4)))
        self.assertEqual({int(e[1]) >> 16 for e in entered}, {0, 1, 2, 3})
        for rank in range(4):
            own = [e for e in events if int(e[1]) >> 16 == rank]
            self.assertEqual([int(e[2]) for e in own], sorted(int(e[2]) for e in own))
            self.assertEqual([e[3] for e in own[::2]], [e[3] for e in own[1::2]])       # entered, and left

    def test_threads_are_locations(self):
        self.run_job("threads", files="run.otf2", ranks=1)
        self.assertEqual(len({e[1] for e in self.events()}), 13)

    def test_what_is_there_stays(self):
        os.mkdir(self.path("run.otf2"))
        done = self.run_job("null", files="run.otf2")
        self.assertIn("there is something of this name", plain(done.stderr))
        self.assertEqual(os.listdir(self.path("run.otf2")), [])


@unittest.skipUnless(BROWSER, "there is no chromium-headless-shell")
class Page(Folder):
    def dom(self, name="run.html"):
        """The page after its script has run. No request leaves it: the log of the browser's network shows none."""
        log = self.path("net.json")
        done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                               "--disable-component-update", "--no-first-run", "--virtual-time-budget=4000",
                               f"--user-data-dir={self.path('profile')}", f"--log-net-log={log}", "--window-size=1300,2200",
                               f"--screenshot={self.path('shot.png')}", "--dump-dom", "file://" + self.path(name)],
                              capture_output=True, timeout=120, text=True)
        dom = done.stdout
        self.assertIn('data-ready="yes"', dom[:2000], done.stderr)
        self.assertNotIn("data-error", dom[:2000])
        self.assertNotRegex(done.stderr, r"CONSOLE.*(Error|Refused|violat)")
        with open(log) as file:
            urls = set(re.findall(r'"url":"([^"]+)"', file.read()))
        self.assertEqual({url for url in urls if not url.startswith(("file:", "data:"))}, set())
        if keep := os.environ.get("KEEP_SCREENSHOT"):
            shutil.copy(self.path("shot.png"), keep)
        return dom

    def numbers(self, dom):
        """The cells of the table beside the matrix."""
        part = dom[dom.index('id="matrix-table"'):]
        rows = re.findall(r"<tr>(.*?)</tr>", part[:part.index("</table>")])[1:]
        return [[from_, to, *(int(n.replace(",", "")) for n in cell.split(", "))]
                for from_, row in enumerate(rows) for to, cell in enumerate(re.findall(r"<td[^>]*>(.*?)</td>", row)[1:]) if cell != "–"]

    def test_it_shows_what_the_program_sent(self):
        self.run_job("pattern", files="run.html")
        self.assertEqual(self.numbers(self.dom()), pattern(4))

    def test_hostile_names(self):
        self.run_job("names", files="run.html")
        dom = self.dom()
        self.assertNotIn("<title>broken", dom)
        self.assertNotIn("<script>document.title", dom)
        self.assertEqual(dom.count("<script"), 2)
        words = html.unescape(re.sub(r"<[^>]+>", " ", dom[dom.index('id="communicators"'):]))
        for name in ("</script><script>document.title='broken'</script>", "<!--<script>", '"quoted" \\ and \'more\'', "${x}%s{{y}}]]>",
                     "line\\nbreak\\ttab \\u2028 \\u202e end", "\\xff\\xfe not UTF-8 \\xc3"):
            self.assertIn(name, words)
        text = self.text("run.html")
        data = text[text.index('id="data">') + 10:]
        self.assertNotRegex(data[:data.index("</script>")], "[<>&\u2028]")

    def test_a_killed_rank(self):
        self.run_job("killed", files="run.html", status=137)
        words = html.unescape(re.sub(r"<[^>]+>", " ", self.dom()))
        self.assertIn("Last calls of the ranks that did not finalise MPI", words)
        self.assertRegex(words, r"MPI_Send\s+0\s+149 B")
        self.assertIn("not over", words)

    def test_many_ranks_and_many_calls(self):
        self.run_job("many", "2000", ranks=40, files="run.html", options=("--set", "tool.trace.ranks=16", "--set", "tool.trace.bars=2000"))
        words = html.unescape(re.sub(r"<[^>]+>", " ", self.dom()))
        self.assertIn("16 of 40 ranks", words)
        self.assertIn("A cell stands for 3 × 3 ranks", words)

    def test_the_size_of_a_large_job(self):
        self.run_job("null", "150000", ranks=16, files="run.html", timeout=200)
        self.assertLess(os.path.getsize(self.path("run.html")), 5 << 20)
        self.dom()


if __name__ == "__main__":
    unittest.main()
