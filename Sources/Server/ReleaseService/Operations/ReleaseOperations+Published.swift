package import PatchFormat
package import PatchServer

extension ReleaseOperations {
    /// Reads an app's tree on a thread that may wait for the disk.
    package func looking<Value: Sendable>(
        _ app: AppID,
        _ work: @escaping @Sendable (AppRepository) throws(ServerError) -> Value
    ) async throws(OperationError) -> Value {
        try await onThread { () throws(OperationError) in try serving(app, work) }
    }

    /// A document of the published tree, or a small object.
    ///
    /// - Returns: nil where it is not there, or too large to be answered from memory.
    package func published(_ file: TreePath.File, of app: AppID) async throws(OperationError) -> [UInt8]? {
        let limit: Int
        switch file {
        case .target: limit = Limits.manifest
        case .object: limit = Limits.loaderPackage
        default: limit = Limits.targetsRole
        }
        return try await looking(app) { (repository) throws(ServerError) in
            if case .object = file, let status = try repository.tree.storage.status(of: file), status.size > limit {
                return nil
            }
            return try repository.tree.storage.read(file, limit: limit)
        }
    }
}
