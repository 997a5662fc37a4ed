@HEAD@
@BODY@
}
#pragma weak @NAME@ = P@NAME@
