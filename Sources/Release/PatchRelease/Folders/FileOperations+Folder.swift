import PatchStore
import SystemPackage

extension FileOperations {
    /// Gives the complete folder `new` the name `output`, where nothing stands or, with `replaces`, an older one.
    ///
    /// Afterwards: the new folder stands there, durably; after an error the old one.
    func putFolder(_ new: FilePath, at output: FilePath, replaces: Bool) throws(FileError) {
        let parent = output.parent
        let old = parent.at(".\(output.name ?? "").old")
        // rename(2) puts no directory in the place of a full one, so the old one steps aside first.
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
