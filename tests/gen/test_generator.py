"""Unit tests of the generator: the table's reader, C types, entry points, the include check."""
import re
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bindings" / "gen"), str(Path(__file__).parent)]

import check_includes                                    # noqa: E402
import conversions                                       # noqa: E402
import entry                                             # noqa: E402
import header                                            # noqa: E402
import manual                                            # noqa: E402
import roff                                              # noqa: E402
import sections                                          # noqa: E402
from c_types import c_name, prototype, wrap              # noqa: E402
from table import TableError, read_table                 # noqa: E402
from template import fill, write_if_changed              # noqa: E402

KINDS = (ROOT / "bindings/api/kinds.txt").read_text()


def table_of(api, calls="", constants=""):
    """A small table, read from files like the real one."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("kinds.txt", KINDS), ("constants.txt", constants), ("pt2pt.api", api), ("pt2pt.calls", calls)):
            (Path(folder) / name).write_text(text)
        return read_table(folder)


SEND = """proc MPI_Send large
  buf       buffer const
  count     count
  datatype  datatype
  dest      dest
  tag       tag
  comm      comm
"""
CALLS = "header framework/p2p/api.h\nMPI_Send calls=p2p::send hot\n"


class Reader(unittest.TestCase):
    def test_reads_a_procedure(self):
        send = table_of(SEND, CALLS).procedures["MPI_Send"]
        self.assertEqual([p.name for p in send.parameters], ["buf", "count", "datatype", "dest", "tag", "comm"])
        self.assertTrue(send.large)
        self.assertEqual((send.overlay.calls, send.overlay.header), ("p2p::send", "framework/p2p/api.h"))
        self.assertEqual(send.overlay.flags, {"hot"})

    def test_refuses_with_file_and_line(self):
        cases = [("proc MPI_X\n  a  no_such_kind\n", "", "pt2pt.api:2"), ("proc MPI_X larg\n", "", "pt2pt.api:1.*larg"),
                 ("  a  comm\n", "", "before any procedure"), (SEND + SEND, "", "twice"),
                 (SEND, "MPI_Sned calls=p2p::send\n", "pt2pt.calls:1.*MPI_Sned"),
                 (SEND, "MPI_Send calls=p2p::send quick\n", "unknown attribute 'quick'")]
        for api, calls, expected in cases:
            with self.subTest(expected), self.assertRaisesRegex(TableError, expected):
                table_of(api, calls)

    def test_constants_have_the_type_of_their_heading(self):
        constants = table_of(SEND, "", "[ops: MPI_Op]\nMPI_SUM 0x21\nMPI_TOTAL = MPI_SUM\nX 3 type=int*\n").constants
        self.assertEqual([(c.name, c.type, c.alias) for c in constants],
                         [("MPI_SUM", "MPI_Op", False), ("MPI_TOTAL", "MPI_Op", True), ("X", "int*", False)])
        self.assertEqual([header.define(c) for c in constants],
                         ["#define MPI_SUM ((MPI_Op)0x21)", "#define MPI_TOTAL MPI_SUM", "#define X ((int*)3)"])


class Conversions(unittest.TestCase):
    def test_every_conversion_of_the_table_is_defined_under_both_names(self):
        table = read_table(ROOT / "bindings/api")
        text = conversions.definitions(table)
        names = [p.name for p in conversions.conversions(table)]
        self.assertEqual(len(names), 11 * 2 + 6)
        for name in names:
            for full in (name, "P" + name):
                self.assertEqual(len(re.findall(rf" \({full}\)\(.*\) {{\n", text)), 1, full)
                self.assertNotRegex(text, rf"\w\s+{full}\(.*\) {{\n", "a generator of wrappers takes it for a prototype")
        self.assertIn("MPI_Fint (PMPI_Type_c2f)(MPI_Datatype datatype) {\n  return PMPI_Type_toint(datatype);", text)
        self.assertIn("f_status[MPI_F_TAG] = c_status->MPI_TAG;", text)
        self.assertIn("f08_status->MPI_INTERNAL[4] = f_status[7];", text)


class Types(unittest.TestCase):
    def test_small_and_large_forms(self):
        table = table_of("proc MPI_V large\n  counts[comm]  count const\n  displs[comm]  displ const\n  size  bytes out\n"
                         "  ranges[n,3]  int\n  types[*]  datatype const\n  word  string const\n")
        v = table.procedures["MPI_V"]
        self.assertEqual(prototype(v, False, table),
                         "int MPI_V(const int counts[], const int displs[], int* size, int ranges[][3], "
                         "const MPI_Datatype types[], const char* word)")
        self.assertIn("const MPI_Count counts[], const MPI_Aint displs[], MPI_Count* size", prototype(v, True, table))
        self.assertEqual(c_name(v, True), "MPI_V_c")

    def test_callback_of_the_large_form(self):
        table = table_of("proc MPI_O large\n  f  function type=MPI_F\ncallback MPI_F large returns=void\n  len  count pointer\n")
        o = table.procedures["MPI_O"]
        self.assertEqual(prototype(o, False, table), "int MPI_O(MPI_F* f)")
        self.assertEqual(prototype(o, True, table), "int MPI_O_c(MPI_F_c* f)")
        self.assertIn("typedef void (MPI_F_c)(MPI_Count* len);", header.callbacks(table))

    def test_wrap_breaks_at_commas(self):
        self.assertEqual(wrap("f(aaa, bbb, ccc)", "  ", 9), "f(aaa,\n  bbb,\n  ccc)")


class EntryPoints(unittest.TestCase):
    def body(self, name, api, calls, large=False):
        table = table_of(api, calls)
        return entry.body(table.procedures[name], large, table)

    def test_send_resolves_the_communicator_first_and_buffers_last(self):
        lines = self.body("MPI_Send", SEND, CALLS)
        order = ["resolve(comm)", "count < 0", "committed(datatype)", "is_dest(dest", "tag < 0", "is_special(buf)", "p2p::send("]
        places = [next(i for i, line in enumerate(lines) if part in line) for part in order]
        self.assertEqual(places, sorted(places))
        self.assertIn("const Status outcome = p2p::send(buf, count, *datatype_obj, dest, tag, *comm_obj);", lines)
        self.assertLessEqual(len(lines), 15)

    def test_failures_name_the_form_that_was_called(self):
        self.assertIn('bad_count("MPI_Send_c", comm_obj, "count", count)', "\n".join(self.body("MPI_Send", SEND, CALLS, True)))

    def test_the_handler_of_what_is_made_gets_the_errors(self):
        lines = self.body("MPI_M", "proc MPI_M\n  group  group\n  errhandler  errhandler\n  made  comm out\n",
                          "header framework/x/api.h\nMPI_M calls=x::m\n")
        self.assertEqual(lines[0], 'if (!running()) return clear(made), not_running("MPI_M");')
        self.assertIn('if (!made_for(Kind::kComm, *errhandler_obj)) return clear(made), bad_errhandler("MPI_M", Kind::kComm, "errhandler");',
                      lines)
        self.assertIn('if (group_obj == nullptr) return clear(made), bad_handle("MPI_M", errhandler_obj, "group", group);', lines)
        self.assertIn('if (!outcome.ok()) return clear(made), failed("MPI_M", errhandler_obj, outcome);', lines)

    def test_every_failure_clears_the_handles_that_would_have_been_made(self):
        table = read_table(ROOT / "bindings/api")
        for procedure, large in table.entry_points():
            made = [p.name for p in procedure.form(large)
                    if p.direction == "out" and not p.array and (p.kind.name in entry.NULLS or p.kind.name in ("message", "keyval"))]
            if "raw" in procedure.overlay.flags or procedure.chapter == "tool":
                continue
            for line in entry.body(procedure, large, table):
                if "return " not in line or line == "return MPI_SUCCESS;":
                    continue
                for name in made:
                    self.assertIn(f"clear({name})", line, procedure.name)

    def test_without_calls_it_is_unsupported_on_its_communicator(self):
        self.assertEqual(self.body("MPI_Send", SEND, ""), ['return unsupported("MPI_Send", comm);'])

    def test_outputs_are_stored_after_success_and_narrowed(self):
        lines = self.body("MPI_P", "proc MPI_P large\n  type  datatype\n  size  bytes out\n  new  comm out\n",
                          "header framework/x/api.h\nMPI_P calls=x::p\n")
        self.assertEqual(lines[-7:], ["MPI_Count size_wide = 0;", "Comm* new_obj = nullptr;",
                                      "const Status outcome = x::p(*type_obj, &size_wide, &new_obj);",
                                      'if (!outcome.ok()) return clear(new), failed("MPI_P", nullptr, outcome);',
                                      "*size = narrow(size_wide);", 'store("MPI_P", new, new_obj);', "return MPI_SUCCESS;"])
        large = self.body("MPI_P", "proc MPI_P large\n  size  bytes out\n", "header framework/x/api.h\nMPI_P calls=x::p\n", True)
        self.assertIn("const Status outcome = x::p(size);", large)

    def test_inout_handles_are_stored_on_failure_too(self):
        lines = self.body("MPI_W", "proc MPI_W\n  request  request inout\n", "header framework/x/api.h\nMPI_W calls=x::w hot\n")
        self.assertLess(lines.index("store(request, request_obj);"),
                        lines.index('if (!outcome.ok()) return failed("MPI_W", nullptr, outcome);'))

    def test_arguments_that_do_not_count_are_not_looked_at(self):
        table = read_table(ROOT / "bindings/api")
        gatherv = table.procedures["MPI_Gatherv"]
        text = "\n".join(entry.body(gatherv, False, table))
        self.assertIn("at_root ? committed(recvtype) : insignificant_type()", text)
        self.assertIn("takes_part ? committed(sendtype) : insignificant_type()", text)
        self.assertLess(text.index("is_root("), text.index("at_root ="))
        allreduce = "\n".join(entry.body(table.procedures["MPI_Allreduce"], False, table))
        self.assertIn("own_data && is_special(sendbuf)", allreduce)

    def test_one_buffer_for_both_is_refused_where_both_count(self):
        table = read_table(ROOT / "bindings/api")

        def condition(name):
            lines = entry.body(table.procedures[name], False, table)
            return " ".join(" ".join(lines).split()).partition("if (sendbuf == recvbuf && ")[2].partition(" return")[0]
        self.assertEqual(condition("MPI_Gatherv"), "at_root && takes_part && overlap(Side(sendtype_obj, sendcount), "
                         "Side(recvtype_obj, recvcounts, displs, comm_obj->remote_size)))")
        self.assertEqual(condition("MPI_Allreduce"),
                         "own_data && overlap(Side(datatype_obj, count), Side(datatype_obj, count)))")
        self.assertIn("own_data && comm_obj->rank > 0 && ", condition("MPI_Exscan"))
        self.assertIn("recvcounts[comm_obj->rank]", condition("MPI_Reduce_scatter"))
        self.assertEqual(condition("MPI_Neighbor_allgather"), "")   # no MPI_IN_PLACE there
        together = [name for name, procedure in table.procedures.items()
                    if {"sendbuf", "recvbuf"} <= {p.name for p in procedure.parameters} and procedure.chapter == "coll"]
        for name in together:
            self.assertTrue(condition(name), name)

    def test_every_entry_point_is_short(self):
        table = read_table(ROOT / "bindings/api")
        for procedure, large in table.entry_points():
            lines = entry.function(procedure, large, table).count("\n")
            self.assertLessEqual(lines, 40, procedure.name)  # MPI_Gatherv_init: two datatypes that may be null

    def test_declarations_are_the_mechanical_map(self):
        table = table_of("proc MPI_G large\n  counts[comm]  count const\n  info  info\n  comm  comm\n  new  request out\n",
                         "header framework/x/api.h\nMPI_G calls=x::g\n")
        self.assertIn("Status g(IntArray counts, Info* info, Comm& comm, Request** new);", entry.declarations(table))

    def test_coverage_and_exports_list_every_form(self):
        table = table_of(SEND, CALLS)
        self.assertEqual(entry.coverage(table), "MPI_Send implemented pt2pt\nMPI_Send_c implemented pt2pt\n")
        self.assertIn("MPI_Send unsupported pt2pt\n", entry.coverage(table_of(SEND)))
        self.assertIn("    PMPI_Send_c;\n", entry.export_map(table))


class WholeTable(unittest.TestCase):
    def test_every_function_of_the_abi_once(self):
        table = read_table(ROOT / "bindings/api")
        names = [c_name(p, large) for p, large in table.entry_points()]
        self.assertEqual((len(names), len(set(names))), (662, 662))

    def test_header_in_the_tree_is_the_generated_one(self):
        table = read_table(ROOT / "bindings/api")
        self.assertEqual((ROOT / "include/mpi.h").read_text(), header.mpi_h(table),
                         "run: python3 bindings/gen/generate.py --header include/mpi.h")

    def test_header_of_removed_names_too(self):
        table = read_table(ROOT / "bindings/api")
        self.assertEqual((ROOT / "include/mpi_removed.h").read_text(), header.mpi_removed_h(table),
                         "run: python3 bindings/gen/generate.py --removed include/mpi_removed.h")
        self.assertFalse(set(table.removed.procedures) & set(table.procedures))
        self.assertFalse({c.name for c in table.removed.constants} & {c.name for c in table.constants})

    def test_targets_are_declared_where_the_table_says(self):
        table = read_table(ROOT / "bindings/api")
        for procedure in [*table.procedures.values(), *table.removed.procedures.values()]:
            overlay = procedure.overlay
            if overlay.calls and (ROOT / overlay.header).exists():
                name = overlay.calls.split("::")[-1].split("<")[0]
                text = (ROOT / overlay.header).read_text()
                # One macro there declares the three forms of a collective.
                text = re.sub(r"ASHLAR_COLLECTIVE\((\w+), (\w+), (\w+)", r"\1( \2( \3(", text)
                self.assertTrue(re.search(rf"\b{name}\(", text), f"{procedure.name}: {overlay.header} has no {name}")


class Templates(unittest.TestCase):
    def test_holes_and_values_must_match(self):
        with self.assertRaises(ValueError):
            fill("entry.cc", HEAD="x")
        self.assertEqual(fill("entry.cc", HEAD="h", BODY="b", NAME="n"), 'h\nb\n}\ndecltype(Pn) n __attribute__((weak, alias("Pn")));\n')

    def test_unchanged_files_are_left_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a" / "b.txt"
            self.assertTrue(write_if_changed(path, "x"))
            self.assertFalse(write_if_changed(path, "x"))


class Includes(unittest.TestCase):
    USES = {"base": set(), "object": {"base"}, "p2p": {"base", "object"}, "coll": {"base", "p2p"}}

    def reason(self, file, target):
        return check_includes.allowed(tuple(file.split("/")), tuple(target.split("/")), self.USES)

    def test_rooms(self):
        self.assertIsNone(self.reason("framework/p2p/send.cc", "framework/object/comm.h"))
        self.assertIsNone(self.reason("framework/p2p/send.cc", "framework/p2p/send.h"))
        self.assertIn("does not use", self.reason("framework/object/comm.h", "framework/p2p/send.h"))
        self.assertIn("outside", self.reason("framework/object/comm.h", "bindings/c/check.h"))
        self.assertIn("root of the tree", self.reason("framework/object/comm.h", "../base/log.h"))

    def test_components_and_launcher(self):
        self.assertIn("may not see", self.reason("components/transport/shm/a.cc", "framework/p2p/send.h"))
        self.assertIsNone(self.reason("components/coll/p2p/a.cc", "framework/coll/op.h"))
        self.assertIn("its own", self.reason("components/coll/p2p/a.cc", "components/coll/shm/b.h"))
        self.assertIn("may not see", self.reason("mpiexec/main.cc", "framework/object/comm.h"))

    def test_uses_lists(self):
        found = check_includes.uses_of("ashlar_room(comm\n  SOURCES a.cc b.cc\n  USES base p2p\n  LIBS dl)")
        self.assertEqual(found, {"comm": {"base", "p2p"}})
        self.assertEqual(list(check_includes.wrong_uses({"p2p": {"base"}})), [])
        self.assertEqual(len(list(check_includes.wrong_uses({"base": {"p2p"}, "rma": {"io"}}))), 2)


class Manual(unittest.TestCase):
    """Pages of a small table, from words of its own."""
    CALLS = "group Blocking Calls\nMPI_Send: send\n  Sends count items.\n"
    ARGUMENTS = ":buffer  data\ncount  number of {items}\n:datatype  type\n:dest  rank\n:tag  number\n:comm  communicator\n"
    ERRORS = "error MPI_ERR_OTHER some.message: it fails\n  MPI_S*\n"
    SECTIONS = "# of a standard\n3 Messages\n3.1 Introduction\n3.2 Sending and Receiving\n3.2.1 Sending\n  MPI_Send\n3.3 Waiting\n"
    NOTES = "note waits: It\n  waits.\n  MPI_S*\n"

    def pages(self, calls=CALLS, arguments=ARGUMENTS, api=SEND, overlay=CALLS, errors=ERRORS, standard=SECTIONS):
        overlay = "header framework/p2p/api.h\nMPI_Send calls=p2p::send hot\n" if overlay is self.CALLS else overlay
        with tempfile.TemporaryDirectory() as folder:
            words = Path(folder) / "words"
            words.mkdir()
            for name, text in (("pt2pt", calls), ("arguments", arguments), ("notes", self.NOTES), ("errors", errors)):
                (words / f"{name}.words").write_text(text)
            out = Path(folder) / "man3"
            out.mkdir()
            (out / "MPI_Old.3").write_text("of an older table")
            (Path(folder) / "sections.txt").write_text(standard)
            found = sections.read_sections(Path(folder) / "sections.txt")
            manual.write_manual(table_of(api, overlay), found, words, out, "Ashlar MPI")
            return {p.name: p.read_text() for p in out.iterdir()}

    def test_pages_and_links(self):
        pages = self.pages()
        self.assertEqual(sorted(pages), ["MPI_Send.3", "MPI_Send_c.3", "PMPI_Send.3", "PMPI_Send_c.3"])
        page = pages["MPI_Send.3"]
        self.assertIn("int MPI_Send(const void* buf, int count,", page)
        self.assertIn("INTEGER(KIND=MPI_COUNT_KIND), INTENT(IN) :: count", page)
        self.assertIn("It waits.", page)
        self.assertIn("\\fBMPI_ERR_TAG\\fP\n\\fItag\\fP is below 0", page)
        self.assertIn("\\fBMPI_ERR_OTHER\\fP\nit fails.", page)
        self.assertIn("MPI 5.0, section 3.2.1, Sending.", page)
        self.assertNotIn("Not implemented", page)

    def test_sections_are_whole(self):
        with self.assertRaisesRegex(TableError, "MPI_Send is not there"):
            self.pages(standard="3 Messages\n")
        with self.assertRaisesRegex(TableError, "MPI_Recv is no procedure of the table"):
            self.pages(standard=self.SECTIONS + "  MPI_Recv\n")
        with self.assertRaisesRegex(TableError, "sections.txt:8: MPI_Send is defined by one section"):
            self.pages(standard=self.SECTIONS + "  MPI_Send\n")
        with self.assertRaisesRegex(TableError, "after section 3.3 comes none with the number 3.5"):
            self.pages(standard=self.SECTIONS + "3.5 Probing\n")
        with self.assertRaisesRegex(TableError, "expected 'NUMBER TITLE'"):
            self.pages(standard=self.SECTIONS + "3.4\n")

    def test_what_is_missing_says_so(self):
        self.assertIn("Not implemented", self.pages(overlay="")["MPI_Send.3"])
        self.assertNotIn("ERRORS", self.pages(overlay="")["MPI_Send.3"])

    def test_gaps_stop_the_generator(self):
        with self.assertRaisesRegex(TableError, "MPI_Send: the manual has no words"):
            self.pages(calls="group Blocking Calls\n")
        with self.assertRaisesRegex(TableError, "nothing says what argument 'count'"):
            self.pages(arguments=self.ARGUMENTS.replace("count", "cuont"))
        with self.assertRaisesRegex(TableError, "not in the table: MPI_Sned"):
            self.pages(calls=self.CALLS + "MPI_Sned: send\n  Sends.\n")
        with self.assertRaisesRegex(TableError, "not in the table: :win"):
            self.pages(arguments=self.ARGUMENTS + ":win  window\n")
        with self.assertRaisesRegex(TableError, "not in the table: MPI_Recv\\*"):
            self.pages(errors=self.ERRORS + "error MPI_ERR_TAG some.message: it fails\n  MPI_Recv*\n")
        with self.assertRaisesRegex(TableError, "errors.words:3: expected 'error CLASS ID"):
            self.pages(errors=self.ERRORS + "MPI_Recv fails\n")
        with self.assertRaisesRegex(TableError, "pt2pt.words:4: expected"):
            self.pages(calls=self.CALLS + "what is this\n")

    def test_a_check_without_words_stops_the_generator(self):
        procedure = table_of(SEND, CALLS).procedures["MPI_Send"]
        with self.assertRaisesRegex(TableError, "MPI_Send: the manual does not know what the check bad_luck means"):
            manual.error_of("bad_luck", None, procedure, None)

    def test_text_is_no_macro(self):
        self.assertEqual(roff.escape(".TH\n'x\n\\n"), "\\&.TH\n\\&'x\n\\en")
        self.assertEqual(roff.prose(".TH is no macro. 'Nor is this"), "\\&.TH is no macro. 'Nor is this")
        for length in range(30, 50):                                            # wherever the line breaks
            lines = roff.prose("MPI_Send " + "x " * length + ".so more").split("\n")
            self.assertTrue(all(len(line) <= 80 and not line.startswith(".") for line in lines), lines)
        self.assertEqual(roff.code("a-b'c"), "a\\-b\\(aqc")


if __name__ == "__main__":
    unittest.main()
