import SystemPackage

/// A file descriptor that closes when its owner goes.
struct OwnedDescriptor: ~Copyable, Sendable {
    let descriptor: FileDescriptor

    init(_ descriptor: FileDescriptor) {
        self.descriptor = descriptor
    }

    deinit {
        // close(2) reports late write errors on some file systems; whoever needs to know has synced before.
        try? descriptor.close()
    }

    /// Closes now, and says what went wrong.
    consuming func close() throws {
        let descriptor = descriptor
        discard self
        try descriptor.close()
    }
}
