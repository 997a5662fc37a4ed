/* MPI_Type_get_envelope and MPI_Type_get_contents where an INTEGER has 8 bytes. Datatypes are made by C's large forms
 * there, which keep counts and displacements apart; these put them where the small forms have them. Compiled twice, as
 * the generated entry points are. */
#include "arrays.h"
#include "complain.h"

#if ASHLAR_F_INT == 8
struct parts {
  MPI_Count integers, addresses, counts, types;
  int combiner;
};

/* How many of the counts are addresses in the small form: the last ones. */
static MPI_Count addresses_among(const struct parts* has) {
  switch (has->combiner) {
    case MPI_COMBINER_HVECTOR:
      return f_least(has->counts, 1);
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT:
      return has->counts / 2; /* a count, then as many lengths as displacements */
    case MPI_COMBINER_HINDEXED_BLOCK:
      return has->counts > 2 ? has->counts - 2 : 0;
    case MPI_COMBINER_RESIZED:
      return has->counts;
    default:
      return 0;
  }
}

/* The integers that stand in front of the counts. */
static MPI_Count integers_before(const struct parts* has) {
  const int before = has->combiner == MPI_COMBINER_SUBARRAY ? 1 : has->combiner == MPI_COMBINER_DARRAY ? 3 : 0;
  return f_least(before, has->integers);
}

static int too_few(const char* argument, f_int most, MPI_Count needed) {
  return f_complain(MPI_COMM_NULL, MPI_WIN_NULL, MPI_ERR_ARG,
                    "MPI_Type_get_contents: argument %s is %lld, but there are %lld", argument, (long long)most,
                    (long long)needed);
}

void F_PROC(type_get_envelope, TYPE_GET_ENVELOPE)(f_int* datatype, f_int* num_integers, f_int* num_addresses,
                                                  f_int* num_datatypes, f_int* combiner, f_int* ierror) {
  struct parts has = {0};
  const int code = F_CALL(MPI_Type_get_envelope_c)(f_datatype(*datatype), &has.integers, &has.addresses, &has.counts,
                                                   &has.types, &has.combiner);
  if (code == MPI_SUCCESS) {
    const MPI_Count addresses = addresses_among(&has);
    *num_integers = has.integers + has.counts - addresses;
    *num_addresses = has.addresses + addresses;
    *num_datatypes = has.types;
    *combiner = has.combiner;
  }
  f_return(ierror, code);
}
F_ALIAS(F_PROC(type_get_envelope_f08, TYPE_GET_ENVELOPE_F08), F_PROC(type_get_envelope, TYPE_GET_ENVELOPE));

void F_PROC(type_get_contents, TYPE_GET_CONTENTS)(f_int* datatype, f_int* max_integers, f_int* max_addresses,
                                                  f_int* max_datatypes, f_int* integers, MPI_Aint* addresses,
                                                  f_int* datatypes, f_int* ierror) {
  int code = MPI_SUCCESS;
  struct parts has = {0};
  const MPI_Datatype type = f_datatype(*datatype);
  /* What is wrong with the datatype, the call below says. */
  if (PMPI_Type_get_envelope_c(type, &has.integers, &has.addresses, &has.counts, &has.types, &has.combiner) !=
      MPI_SUCCESS)
    has = (struct parts){0};
  const MPI_Count far = addresses_among(&has), near = has.counts - far, before = integers_before(&has);
  F_ROOM(int, c_integers, *max_integers);
  F_ROOM(MPI_Count, counts, has.counts);
  F_ROOM(MPI_Datatype, types, *max_datatypes);
  if (near > 0 && has.integers + near > *max_integers)
    code = too_few("max_integers", *max_integers, has.integers + near);
  else if (far > 0 && has.addresses + far > *max_addresses)
    code = too_few("max_addresses", *max_addresses, has.addresses + far);
  if (code == MPI_SUCCESS)
    code = F_CALL(MPI_Type_get_contents_c)(type, *max_integers, *max_addresses, has.counts, *max_datatypes, c_integers,
                                           addresses, counts, types);
  if (code == MPI_SUCCESS) {
    F_EACH(i, has.integers) integers[i < before ? i : i + near] = c_integers[i];
    F_EACH(i, near) integers[before + i] = counts[i];
    F_EACH(i, far) addresses[has.addresses + i] = counts[near + i];
    F_EACH(i, has.types) datatypes[i] = f_datatype_int(types[i]);
  }
  F_LEAVE(c_integers);
  F_LEAVE(counts);
  F_LEAVE(types);
  f_return(ierror, code);
}
F_ALIAS(F_PROC(type_get_contents_f08, TYPE_GET_CONTENTS_F08), F_PROC(type_get_contents, TYPE_GET_CONTENTS));
#endif
