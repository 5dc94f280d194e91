// Random bytes for programs under wine: Rust's library asks a function for them that Windows 10 has and wine 8 has not.
#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T length) { return RtlGenRandom(data, (ULONG)length); }
