// Calls of Linux's C library that Swift's Glibc module leaves out (glibc 2.34 or newer).
#ifndef CLINUX_SHIM_H
#define CLINUX_SHIM_H

#include <arpa/inet.h>
#include <errno.h>
#include <link.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <malloc.h>
#include <netinet/in.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PATCHLINE_MFD_CLOEXEC 1u

extern int memfd_create(const char *name, unsigned int flags);
struct dl_phdr_info;
extern int dl_iterate_phdr(int (*body)(struct dl_phdr_info *file, size_t size, void *context), void *context);
extern int syncfs(int descriptor);
extern int pipe2(int ends[2], int flags);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

// The first place from `from` on and before `end` where two bytes stand of which `pairs` (65,536 flags) has one; `end` where none do.
// In C, because a debug build of Swift looks at 10 MB a second, and a bundle has hundreds. `bytes` has `end` + 1 bytes at least.
static inline size_t patchline_next_pair(const uint8_t *bytes, size_t from, size_t end, const uint8_t *pairs) {
    for (size_t place = from; place < end; place++)
        if (pairs[(size_t)bytes[place] | (size_t)bytes[place + 1] << 8]) return place;
    return end;
}

// A socket on which the kernel tells of links, addresses and routes that come and go (rtnetlink(7)); -1 with errno where it cannot.
static inline int patchline_open_network_changes(void) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (descriptor < 0) return -1;
    struct sockaddr_nl address = {
        .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE,
    };
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0) {
        int error = errno;
        close(descriptor);
        errno = error;
        return -1;
    }
    return descriptor;
}

// Sends one datagram to a socket of this machine by its path, or by its abstract name, which begins with a NUL (unix(7)).
//
// 0; else -1 with errno.
static inline int patchline_send_to_local_socket(const char *name, size_t length, const void *bytes, size_t count) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (length == 0 || length > sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, name, length);
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    // A reader that does not read must not hold the sender up for ever.
    struct timeval longest = {.tv_sec = 1};
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
    socklen_t size = (socklen_t)(__builtin_offsetof(struct sockaddr_un, sun_path) + length);
    ssize_t sent = sendto(descriptor, bytes, count, MSG_NOSIGNAL, (struct sockaddr *)&address, size);
    int error = errno;
    close(descriptor);
    errno = error;
    return sent == (ssize_t)count ? 0 : -1;
}

// A descriptor on which the kernel tells of changes in folders (inotify(7)); -1 with errno where it cannot.
static inline int patchline_open_folder_changes(void) {
    return inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
}

// Tells of files of this folder that come, go or change, and of the folder's own end, but of none that is only read; the
// number of the watch, which is the same for the same folder, or -1 with errno.
static inline int patchline_watch_folder(int descriptor, const char *path) {
    return inotify_add_watch(descriptor, path,
                             IN_CREATE | IN_DELETE | IN_MOVE | IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF |
                                 IN_MOVE_SELF | IN_ONLYDIR);
}

// Who owns the end at `from` of the TCP connection from there to `to`, both on this machine (sock_diag(7)).
//
// 0 with the user's id; else -1, where there is no such connection, or nobody has it open any more, or the system does
// not tell.
static inline int patchline_owner_of_connection(const struct sockaddr *from, const struct sockaddr *to, unsigned *user) {
    struct { struct nlmsghdr head; struct inet_diag_req_v2 ask; } question;
    memset(&question, 0, sizeof question);
    question.head.nlmsg_len = sizeof question;
    question.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    question.head.nlmsg_flags = NLM_F_REQUEST;
    question.ask.sdiag_family = from->sa_family;
    question.ask.sdiag_protocol = IPPROTO_TCP;
    question.ask.idiag_states = ~0u;
    question.ask.id.idiag_cookie[0] = question.ask.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    if (from->sa_family != to->sa_family) return -1;
    if (from->sa_family == AF_INET) {
        const struct sockaddr_in *source = (const struct sockaddr_in *)from, *target = (const struct sockaddr_in *)to;
        question.ask.id.idiag_sport = source->sin_port;
        question.ask.id.idiag_dport = target->sin_port;
        memcpy(question.ask.id.idiag_src, &source->sin_addr, sizeof source->sin_addr);
        memcpy(question.ask.id.idiag_dst, &target->sin_addr, sizeof target->sin_addr);
    } else if (from->sa_family == AF_INET6) {
        const struct sockaddr_in6 *source = (const struct sockaddr_in6 *)from, *target = (const struct sockaddr_in6 *)to;
        question.ask.id.idiag_sport = source->sin6_port;
        question.ask.id.idiag_dport = target->sin6_port;
        memcpy(question.ask.id.idiag_src, &source->sin6_addr, sizeof source->sin6_addr);
        memcpy(question.ask.id.idiag_dst, &target->sin6_addr, sizeof target->sin6_addr);
    } else {
        return -1;
    }
    int descriptor = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
    if (descriptor < 0) return -1;
    struct { struct nlmsghdr head; struct inet_diag_msg said; char more[512]; } answer;
    int result = -1;
    // The kernel answers while it is asked.
    if (send(descriptor, &question, sizeof question, 0) == (ssize_t)sizeof question) {
        ssize_t size = recv(descriptor, &answer, sizeof answer, 0);
        // What nobody has open is nobody's, and would be told as root's.
        if (size >= (ssize_t)(sizeof answer.head + sizeof answer.said) &&
            answer.head.nlmsg_type == SOCK_DIAG_BY_FAMILY && answer.said.idiag_inode != 0) {
            *user = answer.said.idiag_uid;
            result = 0;
        }
    }
    close(descriptor);
    return result;
}

// Binds a TCP port of [::1] so that nobody else binds it or listens there, and every connection is refused (ip(7), socket(7)).
//
// The descriptor, which holds the port until it is closed; -1 with errno: EADDRINUSE while anybody listens there,
// EAFNOSUPPORT or EADDRNOTAVAIL where the machine has no such address.
static inline int patchline_hold_loopback_port(unsigned short port) {
    int descriptor = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int on = 1, off = 0;
    // Ended connections of the last minute do not stand in the way; somebody who listens does, by the listen(2) here.
    if (setsockopt(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) != 0 ||
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0 || listen(descriptor, 0) != 0 ||
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &off, sizeof off) != 0 || shutdown(descriptor, SHUT_RDWR) != 0) {
        int error = errno;
        close(descriptor);
        errno = error;
        return -1;
    }
    return descriptor;
}

// A timer that goes on while the machine sleeps (timerfd_create(2), CLOCK_BOOTTIME), or that stops meanwhile (CLOCK_MONOTONIC);
// -1 with errno.
static inline int patchline_open_timer(int goes_on) {
    return timerfd_create(goes_on ? CLOCK_BOOTTIME : CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
}

// Lets the timer's descriptor be readable in so much time from now, which is not 0, instead of when it would have been.
static inline int patchline_set_timer(int descriptor, long long seconds, long long nanoseconds) {
    struct itimerspec time = {.it_value = {.tv_sec = seconds, .tv_nsec = nanoseconds}};
    return timerfd_settime(descriptor, 0, &time, NULL);
}

// Lets go of what is mapped from a loaded file and cannot be written.
static inline int patchline_let_go_of_file(struct dl_phdr_info *info, size_t size, void *page) {
    // How the structure begins (dl_iterate_phdr(3)).
    const struct { ElfW(Addr) address; const char *name; const ElfW(Phdr) *parts; ElfW(Half) count; } *file = (const void *)info;
    for (int number = 0; number < file->count; number++) {
        const ElfW(Phdr) *part = &file->parts[number];
        if (part->p_type != PT_LOAD || (part->p_flags & PF_W)) continue;
        uintptr_t mask = ~(*(uintptr_t *)page - 1), start = (file->address + part->p_vaddr) & mask;
        uintptr_t end = (file->address + part->p_vaddr + part->p_filesz + ~mask) & mask;
        madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

// Gives back to the system what this process holds and can do without: free memory, and the pages of programs and libraries,
// which come again from their files where they are used (madvise(2)).
static inline void patchline_give_memory_back(void) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    malloc_trim(0);
    dl_iterate_phdr(patchline_let_go_of_file, &page);
}

#endif
