// Calls of Linux's C library that Swift's Glibc module leaves out (glibc 2.34 or newer).
#ifndef CLINUX_SHIM_H
#define CLINUX_SHIM_H

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATCHLINE_MFD_CLOEXEC 1u

extern int memfd_create(const char *name, unsigned int flags);
extern int syncfs(int descriptor);
extern int pipe2(int ends[2], int flags);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

// A socket on which the kernel tells of links and addresses that come and go (rtnetlink(7)); -1 with errno where it cannot.
static inline int patchline_open_network_changes(void) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (descriptor < 0) return -1;
    struct sockaddr_nl address = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR,
    };
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
        int error = errno;
        close(descriptor);
        errno = error;
        return -1;
    }
    return descriptor;
}

#endif
