import CLinux

/// What a process gives back before it has nothing to do for minutes.
package enum IdleMemory {
    /// Free memory, and the pages of programs and libraries: they come again from their files where they are used, which costs
    /// less than a millisecond.
    package static func giveBack() { patchline_give_memory_back() }
}
