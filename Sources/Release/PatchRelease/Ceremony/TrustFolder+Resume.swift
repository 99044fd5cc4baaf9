package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

extension TrustFolder {
    /// Completes an interrupted ceremony: publishes the draft, renames the staged pairs and removes the draft.
    ///
    /// - Returns: the draft if it waits for signatures. A draft made from other roles than the folder's is ignored.
    package func resume(at time: UTCTime) throws(SigningError) -> TrustDraft? {
        let status = try onDisk { () throws(FileError) in try files.status(of: draftPath) }
        guard status != nil else {
            try settle()
            return nil
        }
        let draft = try draft(at: draftPath)
        do throws(SigningError) {
            if try stage(of: draft, at: draftPath) == .base { return draft }
        } catch .ceremony(_, .moved) {
            try settle()
            return nil
        }
        try finish(draft, at: time)
        return nil
    }

    /// Publishes the folder's own draft, renames the staged pairs, and removes the draft last.
    ///
    /// - Returns: the names of the new keys.
    @discardableResult
    package func finish(_ draft: TrustDraft, at time: UTCTime) throws(SigningError) -> [String] {
        try publish(draft, at: time, from: draftPath)
        let settled = try settle()
        try onDisk { () throws(FileError) in
            try files.removeIfPresent(draftPath)
            try files.syncDirectory(folder)
        }
        return settled
    }

    /// Renames each staged pair whose key a published role lists.
    @discardableResult
    package func settle() throws(SigningError) -> [String] {
        guard let current = try current() else { return [] }
        let authorities = try ceremony(folder) { () throws(CeremonyError) in try Authorities(current) }
        return try KeyFolder(folder, files: files).settle { _, key in !authorities.roles(of: key).isEmpty }
    }
}
