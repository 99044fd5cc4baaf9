package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust

extension TrustFolder {
    /// Does the rest of a ceremony that was stopped: its publish, its pairs' names, its draft's end.
    ///
    /// - Returns: the draft that waits for signatures, if one does; one that the folder has moved on from is none.
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

    /// Publishes the folder's own draft, gives the new pairs their names, and removes the draft last.
    ///
    /// - Returns: the names whose keys are new.
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

    /// Gives each staged pair its name whose key a published role lists.
    @discardableResult
    package func settle() throws(SigningError) -> [String] {
        guard let current = try current() else { return [] }
        let authorities = try ceremony(folder) { () throws(CeremonyError) in try Authorities(current) }
        return try KeyFolder(folder, files: files).settle { _, key in !authorities.roles(of: key).isEmpty }
    }
}
