import SystemPackage

/// A file descriptor that is closed when its owner is released.
struct OwnedDescriptor: ~Copyable, Sendable {
    let descriptor: FileDescriptor

    init(_ descriptor: FileDescriptor) {
        self.descriptor = descriptor
    }

    deinit {
        // close(2) reports late write errors on some file systems. A caller that needs them has synced before.
        try? descriptor.close()
    }

    /// Closes the descriptor now, and throws an error of close(2).
    consuming func close() throws {
        let descriptor = descriptor
        discard self
        try descriptor.close()
    }
}
