"""The generated sources of the Fortran interface, each with its name."""
import fortran_entries
import fortran_f08
import fortran_mpi
import fortran_types


def sources(table):
    yield "ashlar_fortran_types.f90", fortran_types.module(table)
    yield "mpi.f90", fortran_mpi.mpi_module(table)
    yield "mpif.h", fortran_mpi.mpif_h(table)
    yield "mpif_removed.h", fortran_mpi.mpif_removed_h(table)
    yield "mpi_f08.f90", fortran_f08.module(table)
    yield "mpi_f08_directives.f90", fortran_f08.module(table, descriptors=False)
    yield "mpi_f08_shims.f90", fortran_f08.shims(table)
    yield "entries.c", fortran_entries.entries(table, short=False)
    yield "entries_short.c", fortran_entries.entries(table, short=True)
    yield "shapes.c", fortran_entries.shapes(table)
    yield "shapes.h", fortran_entries.shapes_header(table)
