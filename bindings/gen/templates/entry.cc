@HEAD@
@BODY@
}
decltype(P@NAME@) @NAME@ __attribute__((weak, alias("P@NAME@")));
