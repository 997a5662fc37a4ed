"""ashlar_fortran_types.f90: what both modules share; and the constants as each method declares them."""
from fortran import HANDLES
from template import fill

# Groups of constants.txt that are of C alone, or that the templates have.
NOT_FORTRAN = ("layout of a status in Fortran", "special addresses", "handles of the tools interface",
               "predefined functions", "callback safety", "source order")
STRING_MAXIMA = "lengths of strings, sizes"


def constants(table):
    """(name, number, C type) of each constant that Fortran has; lengths of strings do not count a null character."""
    types, values = {}, {}
    for c in table.constants:
        c_type = types.get(c.value, c.type) if c.alias else c.type
        number = values[c.value] if c.alias else None
        if c.group in NOT_FORTRAN or c.name.startswith("MPI_T_"):
            continue
        if number is None:
            number = int(c.value, 0) - (1 if c.group == STRING_MAXIMA and c.name.startswith("MPI_MAX_") else 0)
        types[c.name], values[c.name] = c_type, number
        yield c.name, number, c_type


def numbers(table):
    return "\n".join(f"  integer, parameter :: {n} = {v}" for n, v, t in constants(table) if t == "number")


def handle_constants(table, method):
    lines = []
    for name, value, c_type in constants(table):
        if c_type == "number":
            continue
        if method == "f08":
            lines.append(f"  type({c_type}), parameter :: {name} = {c_type}({value})")
        else:
            lines.append(f"  integer, parameter :: {name} = {value}")
    return "\n".join(lines)


def handle_types(table):
    return [table.kinds[k].c for k in HANDLES]


def comparison(handle, word, sign):
    name = f"ashlar_{handle.lower()}_{word}"
    return f"""  elemental logical function {name}(a, b)
    type({handle}), intent(in) :: a, b
    {name} = a%MPI_VAL {sign} b%MPI_VAL
  end function {name}
"""


def module(table):
    types = [f"  type, bind(C) :: {t}\n    integer(ashlar_int) :: MPI_VAL\n  end type {t}" for t in handle_types(table)]
    equal = [f"    module procedure ashlar_{t.lower()}_eq" for t in handle_types(table)]
    unequal = [f"    module procedure ashlar_{t.lower()}_ne" for t in handle_types(table)]
    private = [f"  private :: ashlar_{t.lower()}_eq, ashlar_{t.lower()}_ne" for t in handle_types(table)]
    bodies = [comparison(t, w, s) for t in handle_types(table) for w, s in (("eq", "=="), ("ne", "/="))]
    return fill("ashlar_fortran_types.f90", NUMBERS=numbers(table), TYPES="\n".join(types), EQUAL="\n".join(equal),
                UNEQUAL="\n".join(unequal), PRIVATE="\n".join(private), COMPARISONS="\n".join(bodies))
