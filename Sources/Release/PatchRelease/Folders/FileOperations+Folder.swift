import PatchStore
import SystemPackage

extension FileOperations {
    /// Renames the complete folder `new` to `output`, which may exist only if `replaces` is true.
    ///
    /// Afterwards the new folder is stored there, durably; after an error the old one.
    func putFolder(_ new: FilePath, at output: FilePath, replaces: Bool) throws(FileError) {
        let parent = output.parent
        let old = parent.at(".\(output.name ?? "").old")
        // rename(2) cannot replace a non-empty directory, so the old one is moved aside first.
        let steppedAside = replaces ? try status(of: output) != nil : false
        if steppedAside {
            try removeTree(old)
            try rename(output, to: old)
        }
        do throws(FileError) {
            try rename(new, to: output)
        } catch {
            if steppedAside { try? rename(old, to: output) }
            throw error
        }
        try syncDirectory(parent)
        try removeTree(old)
    }
}
