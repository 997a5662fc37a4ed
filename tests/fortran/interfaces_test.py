"""Holds the generated mpi_f08 and mpi modules against interfaces.txt, a list of the standard's facts that nothing here was
made from: every procedure in every form, each argument's name, place, type, INTENT, ASYNCHRONOUS, OPTIONAL."""
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bindings" / "gen"))

import fortran_f08                                   # noqa: E402
import fortran_mpi                                   # noqa: E402
from table import read_table                         # noqa: E402

ADDRESS, COUNT, OFFSET = (f"INTEGER(KIND=MPI_{k}_KIND)" for k in ("ADDRESS", "COUNT", "OFFSET"))
HANDLES = {"COMMUNICATOR": "Comm", "GROUP": "Group", "DATATYPE": "Datatype", "OPERATION": "Op", "REQUEST": "Request", "INFO": "Info",
           "FILE": "File", "WINDOW": "Win", "ERRHANDLER": "Errhandler", "SESSION": "Session", "MESSAGE": "Message"}
TYPES = {**{k: f"TYPE(MPI_{v})" for k, v in HANDLES.items()}, "BUFFER": "TYPE(*)", "C_BUFFER": "TYPE(C_PTR)", "C_BUFFER2": "TYPE(C_PTR)",
         "STATUS": "TYPE(MPI_Status)", "F08_STATUS": "TYPE(MPI_Status)", "LOGICAL": "LOGICAL", "LOGICAL_VOID": "LOGICAL",
         "STRING": "CHARACTER", "STRING_ARRAY": "CHARACTER", "STRING_2DARRAY": "CHARACTER", "FUNCTION": "PROCEDURE",
         "POLYFUNCTION": "PROCEDURE", "OFFSET": OFFSET,
         **dict.fromkeys(("RMA_DISPLACEMENT_NNI", "WINDOW_SIZE", "LOCATION_SMALL", "ALLOC_MEM_NUM_BYTES", "WIN_ATTACH_SIZE",
                          "ATTRIBUTE_VAL", "EXTRA_STATE", "DISPLACEMENT"), ADDRESS),
         **dict.fromkeys(("XFER_NUM_ELEM", "XFER_NUM_ELEM_NNI", "NUM_BYTES", "GENERIC_DTYPE_COUNT"), COUNT)}
# Kinds with a small and a large form that are not INTEGER and COUNT.
POLY = {"POLYDISPLACEMENT": ("INTEGER", ADDRESS), "POLYDISPLACEMENT_AINT_COUNT": (ADDRESS, COUNT), "POLYLOCATION": (ADDRESS, COUNT),
        "POLYDISPOFFSET": (ADDRESS, COUNT), "POLYRMA_DISPLACEMENT": ("INTEGER", ADDRESS), "POLYDTYPE_STRIDE_BYTES": (ADDRESS, COUNT),
        "POLYFUNCTION": ("PROCEDURE", "PROCEDURE"), "POLYDTYPE_PACK_SIZE": (ADDRESS, COUNT)}


def facts():
    """name -> [(argument, kind, direction, flags)]"""
    found, current = {}, None
    for line in (Path(__file__).parent / "interfaces.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        if not line.startswith(" "):
            current = found[line] = []
        else:
            name, kind, direction, *flags = line.split()
            current.append((name, kind, direction, set(flags)))
    return found


def interfaces(text):
    """name in lower case -> (arguments, {argument: declaration}) of each interface body in a module."""
    text = re.sub(r"&\n\s*", "", text)
    found = {}
    for body in re.finditer(r"(?m)^    (?:subroutine|function) (\w+)\(([^)]*)\)[^\n]*\n(.*?)^    end (?:subroutine|function)", text, re.S):
        declared = {}
        for line in body[3].splitlines():
            if "::" in line:
                what, _, names = line.partition("::")
                for name in re.findall(r"(\w+)(?:\([^)]*\))?(?:,|$|\s)", names.strip()):
                    declared[name] = line.strip()
        found[body[1].lower()] = ([a.strip() for a in body[2].split(",") if a.strip()], declared)
    return found


def type_of(kind, large):
    if kind in POLY:
        return POLY[kind][large]
    if kind in TYPES:
        return TYPES[kind]
    return COUNT if large and kind.startswith("POLY") else "INTEGER"


class Modules(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        table = read_table(ROOT / "bindings/api")
        cls.table, cls.facts = table, facts()
        cls.f08 = interfaces(fortran_f08.module(table))
        cls.f08_text = fortran_f08.module(table)
        cls.mpi = interfaces(fortran_mpi.mpi_module(table))

    def large_exists(self, name):
        return self.table.procedures[name].large and f"procedure {name}_c_f08" in self.f08_text

    def test_every_procedure_is_in_each_module(self):
        self.assertEqual(len(self.facts), 429)
        for name in self.facts:
            self.assertRegex(self.f08_text, rf"(?m)^  interface {name}$")
            self.assertRegex(self.f08_text, rf"(?m)^  interface P{name}$")
            self.assertIn(name.lower(), self.mpi)

    def check(self, name, arguments, declared, large, method):
        wanted = [a for a in self.facts[name] if large or "large" not in a[3]]
        if name in ("MPI_F_sync_reg", "MPI_Pcontrol"):
            wanted = [a for a in wanted if a[0] != "ierror"]
        wanted = [a for a in wanted if a[1] not in ("VARARGS", "ARGUMENT_COUNT", "ARGUMENT_LIST")]
        self.assertEqual([a.lower() for a in arguments], [a[0].lower() for a in wanted], name)
        for argument, kind, direction, flags in wanted:
            text = declared[next(a for a in arguments if a.lower() == argument.lower())]
            self.one(name, argument, kind, direction, flags, text, large) if method == "f08" else self.old(name, argument, kind, flags, text)

    def one(self, name, argument, kind, direction, flags, text, large):
        where = f"{name}, {argument}: {text}"
        self.assertTrue(text.upper().startswith(type_of(kind, large).upper()), f"{where}; expected {type_of(kind, large)}")
        if type_of(kind, large) == "INTEGER":
            self.assertRegex(text, r"^INTEGER(,| )", where)
        self.assertEqual("ASYNCHRONOUS" in text, "async" in flags, where)
        self.assertEqual("OPTIONAL" in text, argument == "ierror", where)
        without = "nointent" in flags or kind in ("FUNCTION", "POLYFUNCTION") or (kind == "STATUS" and direction == "out") or (
            kind == "BUFFER" and direction != "in")
        self.assertEqual(re.findall(r"INTENT\((\w+)\)", text), [] if without else [direction.upper()], where)
        if "array" in flags and kind not in ("STRING", "BUFFER", "STRING_ARRAY"):
            self.assertRegex(text, r"\w\(.*\)$", where)

    def old(self, name, argument, kind, flags, text):
        expected = type_of(kind, False)
        where = f"{name}, {argument}: {text}"
        if kind in HANDLES or kind in ("STATUS", "F90_STATUS"):
            expected = "INTEGER"
        elif kind == "C_BUFFER":
            expected = ADDRESS
        elif kind == "C_BUFFER2":
            expected = "TYPE(*)"
        elif expected == "PROCEDURE":
            expected = "EXTERNAL"
        if kind == "C_BUFFER":
            self.assertRegex(text.upper(), r"^(INTEGER\(KIND=MPI_ADDRESS_KIND\)|TYPE\(C_PTR\)|TYPE\(\*\))", where)
        else:
            self.assertTrue(text.upper().startswith(expected.upper()), f"{where}; expected {expected}")

    def test_arguments_of_mpi_f08(self):
        for name in self.facts:
            forms = [False, True] if self.large_exists(name) else [False]
            for large in forms:
                base = f"{name}{'_c' if large else ''}".lower()
                key = next(k for k in (f"{base}_f08ts", f"{base}_f08") if k in self.f08)
                with self.subTest(key):
                    self.check(name, *self.f08[key], large, "f08")

    def test_arguments_of_mpi(self):
        for name in self.facts:
            with self.subTest(name):
                self.check(name, *self.mpi[name.lower()], False, "mpi")


if __name__ == "__main__":
    unittest.main()
