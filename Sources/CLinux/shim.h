// Calls of Linux's C library that Swift's Glibc module leaves out (glibc 2.34 or newer).
#ifndef CLINUX_SHIM_H
#define CLINUX_SHIM_H

#include <spawn.h>

#define PATCHLINE_MFD_CLOEXEC 1u

extern int memfd_create(const char *name, unsigned int flags);
extern int syncfs(int descriptor);
extern int pipe2(int ends[2], int flags);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

#endif
