package import PatchFormat
package import PatchServer

extension ReleaseDesk {
    /// A document of the published tree.
    ///
    /// - Returns: nil where it is not there.
    package func published(_ file: TreePath.File, of app: AppID) async throws(DeskError) -> [UInt8]? {
        let limit = if case .target = file { Limits.manifest } else { Limits.targetsRole }
        return try await looking(app) { (repository) throws(ServerError) in
            try repository.tree.storage.read(file, limit: limit)
        }
    }
}
