import CLinux
import Dispatch
import Glibc
import NIOConcurrencyHelpers
package import SystemPackage

/// Reports that something changed in some folders.
package protocol FolderWatch: AnyObject, Sendable {
    /// Watches these folders and no others from now on.
    ///
    /// A missing folder is skipped if an earlier one is watched: the watch of its parent reports its creation. A change before
    /// this call is not reported, so the caller must examine the folders afterwards.
    func watch(_ folders: [FilePath]) throws(FileError)

    /// Stops reporting.
    func end()
}

/// Reports that files of some folders were created, removed or changed (inotify(7)), also by other processes.
///
/// It causes no wake-up while nothing changes.
package final class FolderChanges: FolderWatch {
    private struct State {
        var isOver = false
        /// The watch numbers by path.
        var watches: [FilePath: Int32] = [:]
    }

    private let descriptor: Int32
    /// Safe: a source may be cancelled from any thread (dispatch_source_create(3)), and it is not used otherwise.
    private nonisolated(unsafe) let source: any DispatchSourceRead
    private let state = NIOLockedValueBox(State())

    /// - Parameters:
    ///   - path: The path named in errors.
    ///   - changed: Called after each change, or once for several.
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
            // A removed folder is not watched any more either.
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

    /// Discards the events.
    ///
    /// The names do not matter, because each receiver examines its own files.
    private static func readAll(from descriptor: Int32) {
        // An event has at most 16 bytes and a name of 256 bytes.
        var events = [UInt8](repeating: 0, count: 4_096)
        while unsafe read(descriptor, &events, events.count) > 0 {}
    }
}
