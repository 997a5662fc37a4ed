#pragma once
#include <mpi.h>

#include "framework/mpit/enumeration.h"
#include "framework/mpit/handles.h"
#include "framework/mpit/use.h"

/// The calls of the tools interface (MPI-5.0, chapter 15.3), for the bindings: handles are resolved, pointers that have
/// to be there are there. All are local, may be made by any thread before MPI_Init and after MPI_Finalize, answer with
/// codes of MPI_T, and never call an error handler.
namespace ashlar::mpit {

int init_thread(int required, int* provided);
int finalize();

int enum_get_info(Enumeration& of, int* num, char* name, int* name_len);
int enum_get_item(Enumeration& of, int index, int* value, char* name, int* name_len);

int cvar_get_num(int* num);
int cvar_get_info(int index, char* name, int* name_len, int* verbosity, MPI_Datatype* datatype, MPI_T_enum* enumtype,
                  char* desc, int* desc_len, int* bind, int* scope);
int cvar_get_index(const char* name, int* index);
int cvar_handle_alloc(int index, void* object, MPI_T_cvar_handle* handle, int* count);
int cvar_handle_free(MPI_T_cvar_handle* handle);
int cvar_read(CvarHandle& handle, void* buf);
int cvar_write(CvarHandle& handle, const void* buf);

int pvar_get_num(int* num);
int pvar_get_info(int index, char* name, int* name_len, int* verbosity, int* var_class, MPI_Datatype* datatype,
                  MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* readonly, int* continuous,
                  int* atomic);
int pvar_get_index(const char* name, int var_class, int* index);
int pvar_session_create(MPI_T_pvar_session* session);
int pvar_session_free(MPI_T_pvar_session* session);
int pvar_handle_alloc(PvarSession& session, int index, void* object, MPI_T_pvar_handle* handle, int* count);
int pvar_handle_free(PvarSession& session, MPI_T_pvar_handle* handle);
/// `handle`: nullptr for all of the session.
int pvar_start(PvarSession& session, PvarHandle* handle);
int pvar_stop(PvarSession& session, PvarHandle* handle);
int pvar_reset(PvarSession& session, PvarHandle* handle);
int pvar_read(PvarSession& session, PvarHandle& handle, void* buf);
int pvar_write(PvarSession& session, PvarHandle& handle, const void* buf);
int pvar_readreset(PvarSession& session, PvarHandle& handle, void* buf);

int category_get_num(int* num);
int category_get_info(int index, char* name, int* name_len, char* desc, int* desc_len, int* num_cvars, int* num_pvars,
                      int* num_categories);
int category_get_index(const char* name, int* index);
int category_get_num_events(int index, int* num_events);
int category_get_cvars(int index, int len, int indices[]);
int category_get_pvars(int index, int len, int indices[]);
int category_get_events(int index, int len, int indices[]);
int category_get_categories(int index, int len, int indices[]);
int category_changed(int* update_number);

int source_get_num(int* num);
int source_get_info(int index, char* name, int* name_len, char* desc, int* desc_len, MPI_T_source_order* ordering,
                    MPI_Count* ticks_per_second, MPI_Count* max_ticks, MPI_Info* info);
int source_get_timestamp(int index, MPI_Count* timestamp);

int event_get_num(int* num);
int event_get_info(int index, char* name, int* name_len, int* verbosity, MPI_Datatype datatypes[],
                   MPI_Aint displacements[], int* num_elements, MPI_T_enum* enumtype, MPI_Info* info, char* desc,
                   int* desc_len, int* bind);
int event_get_index(const char* name, int* index);
int event_handle_alloc(int index, void* object, MPI_Info info, MPI_T_event_registration* registration);
int event_handle_free(Registration& registration, void* user_data, MPI_T_event_free_cb_function* callback);
int event_handle_set_info(Registration& registration, MPI_Info info);
int event_handle_get_info(Registration& registration, MPI_Info* info);
int event_register_callback(Registration& registration, MPI_T_cb_safety safety, MPI_Info info, void* user_data,
                            MPI_T_event_cb_function* callback);
int event_callback_set_info(Registration& registration, MPI_T_cb_safety safety, MPI_Info info);
int event_callback_get_info(Registration& registration, MPI_T_cb_safety safety, MPI_Info* info);
int event_set_dropped_handler(Registration& registration, MPI_T_event_dropped_cb_function* callback);
int event_read(MPI_T_event_instance instance, int element, void* buffer);
int event_copy(MPI_T_event_instance instance, void* buffer);
int event_get_timestamp(MPI_T_event_instance instance, MPI_Count* timestamp);
int event_get_source(MPI_T_event_instance instance, int* source);

}  // namespace ashlar::mpit
