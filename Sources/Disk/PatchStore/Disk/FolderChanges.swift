import CLinux
import Dispatch
import Glibc
import NIOConcurrencyHelpers
package import SystemPackage

/// Says that something changed in some folders.
package protocol FolderWatch: AnyObject, Sendable {
    /// From now on these folders are watched, and no others; one that is missing is watched by the one above it.
    ///
    /// A change before this call is told by nobody: look after it.
    func watch(_ folders: [FilePath]) throws(FileError)

    /// Says nothing more.
    func end()
}

/// The kernel's word that files of some folders came, went or changed (inotify(7)), also by other processes.
///
/// Nothing wakes up while nothing changes.
package final class FolderChanges: FolderWatch {
    private struct State {
        var isOver = false
        /// Their numbers by path.
        var watches: [FilePath: Int32] = [:]
    }

    private let descriptor: Int32
    /// Safe: a source may be cancelled from any thread (dispatch_source_create(3)), and nothing else is done with it.
    private nonisolated(unsafe) let source: any DispatchSourceRead
    private let state = NIOLockedValueBox(State())

    /// - Parameters:
    ///   - path: for the error.
    ///   - changed: called after each change, or once for many.
    package init(of path: FilePath, _ changed: @escaping @Sendable () -> Void) throws(FileError) {
        let descriptor = patchline_open_folder_changes()
        guard descriptor >= 0 else { throw FileError(Errno(rawValue: errno), .watch, path) }
        self.descriptor = descriptor
        let source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor,
            queue: DispatchQueue(label: "patchline.folder-changes")
        )
        source.setEventHandler {
            Self.readAll(from: descriptor)
            changed()
        }
        source.setCancelHandler { _ = close(descriptor) }
        source.resume()
        unsafe self.source = source
    }

    deinit { end() }

    package func watch(_ folders: [FilePath]) throws(FileError) {
        let failure: FileError? = state.withLockedValue { state in
            guard !state.isOver else { return nil }
            var watches: [FilePath: Int32] = [:]
            for folder in folders {
                let number = unsafe folder.withPlatformString { unsafe patchline_watch_folder(descriptor, $0) }
                if number < 0, errno == ENOENT, !watches.isEmpty { continue }
                guard number >= 0 else { return FileError(Errno(rawValue: errno), .watch, folder) }
                watches[folder] = number
            }
            let kept = Set(watches.values)
            // What is gone already is no longer watched either.
            for number in state.watches.values where !kept.contains(number) { inotify_rm_watch(descriptor, number) }
            state.watches = watches
            return nil
        }
        if let failure { throw failure }
    }

    package func end() {
        let isFirst = state.withLockedValue { state in
            defer { state.isOver = true }
            return !state.isOver
        }
        if isFirst { unsafe source.cancel() }
    }

    /// Which files does not matter: whoever hears of it looks at its own.
    private static func readAll(from descriptor: Int32) {
        // An event has at most 16 bytes and a name of 256.
        var events = [UInt8](repeating: 0, count: 4_096)
        while unsafe read(descriptor, &events, events.count) > 0 {}
    }
}
