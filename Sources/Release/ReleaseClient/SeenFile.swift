package import PatchFormat
package import PatchStore
package import SystemPackage

/// The reason why the state of a server cannot be stored or read.
package enum SeenFileError: Error, Equatable, Sendable, CustomStringConvertible {
    case file(FileError)
    case locked(StoreLockError)
    case malformed(FilePath, FormatError)

    package var description: String {
        switch self {
        case .file(let error): error.description
        case .locked(let error): error.description
        case .malformed(let path, let error): "\(path) is damaged: \(error)"
        }
    }
}

/// `APP.json` in a folder of the user: the last known states of an app's servers.
///
/// Only its user can read and write it. Concurrent runs wait briefly for each other.
package struct SeenFile: Sendable {
    private static let patience = Duration.seconds(5)

    package let path: FilePath
    private let app: AppID
    private let folder: FilePath
    private let files: any FileOperations

    /// - Parameter folder: An absolute path. It is created when a state is stored.
    package init(_ app: AppID, in folder: FilePath, files: any FileOperations) {
        (self.app, self.folder, self.files) = (app, folder, files)
        path = folder.at("\(app).json")
    }

    /// The stored state of a server; nil if there is none.
    package func seen(of server: ServerURL) throws(SeenFileError) -> SeenMetadata? {
        try document()?[server.text]
    }

    /// Stores a state.
    ///
    /// Afterwards the newer one of the stored and the new state is durable.
    ///
    /// - Parameter replacing: Whether to replace a newer state or a damaged file, because the server was restored.
    package func keep(
        _ seen: SeenMetadata,
        of server: ServerURL,
        replacing: Bool
    ) async throws(SeenFileError) {
        // Most runs see the same state as the previous one.
        if !replacing, let document = try? document(), document[server.text] == seen { return }
        do throws(FileError) { try files.makeDirectory(folder, permissions: .privateDirectory) } catch {
            throw .file(error)
        }
        let lock: StoreLock
        do throws(StoreLockError) {
            lock = try await StoreLock(folder.at("\(app).lock"), waitingUpTo: Self.patience, clock: .continuous)
        } catch { throw .locked(error) }
        var document = SeenDocument(app)
        do throws(SeenFileError) { document = try self.document() ?? document } catch {
            guard replacing, case .malformed = error else { throw error }
        }
        document.keep(seen, of: server.text, replacing: replacing)
        do throws(FileError) { try files.replace("\(app).json", in: folder, with: document.fileBytes) } catch {
            throw .file(error)
        }
        _ = consume lock
    }

    private func document() throws(SeenFileError) -> SeenDocument? {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try files.read(path, limit: SeenDocument.limit) } catch .notFound {
            return nil
        } catch { throw .file(error) }
        do throws(FormatError) { return try SeenDocument(bytes, app: app, named: path.string) } catch {
            throw .malformed(path, error)
        }
    }
}
