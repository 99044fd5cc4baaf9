package import PatchFormat
package import PatchServer
package import ReleaseTree

extension ReleaseOperations {
    /// Reads an app's tree on a thread that may wait for the disk.
    package func looking<Value: Sendable>(
        _ app: AppID,
        _ work: @escaping @Sendable (AppRepository) throws(ServerError) -> Value
    ) async throws(OperationError) -> Value {
        try await onThread { () throws(OperationError) in try serving(app, work) }
    }

    /// A document of the published tree.
    ///
    /// - Returns: nil where it is not there.
    package func published(_ file: TreePath.File, of app: AppID) async throws(OperationError) -> [UInt8]? {
        let limit = if case .target = file { Limits.manifest } else { Limits.targetsRole }
        return try await looking(app) { (repository) throws(ServerError) in
            try repository.tree.storage.read(file, limit: limit)
        }
    }
}
