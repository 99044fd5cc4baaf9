package import PatchChoice
import PatchFormat
package import PatchStore
import SystemPackage

/// Selections whose files stay because somebody serves them, kept or not.
extension DeviceStore {
    private var serving: FilePath { root.at("serving") }

    /// Keeps the files of a selection from every process's clean-up for as long as the answer lives.
    ///
    /// - Returns: nil where the disk takes nothing; nothing is removed from it either.
    package func keepingServed(_ selection: Selection) -> LiveFile? {
        guard isShared else { return nil }
        return try? LiveFile(holding: selection.json.fileBytes, in: serving)
    }

    /// What is served just now, by any process; nil while one of them is still saying what.
    func servedSelections() throws(SyncError) -> [Selection]? {
        guard isShared else { return [] }
        let found = try wrapped { () throws(FileError) in
            try LiveFile.contents(of: serving, limit: Limits.selection)
        }
        var selections: [Selection] = []
        for bytes in found {
            let document = serving.string
            guard let json = try? JSON.document(bytes, named: document, limit: Limits.selection),
                let fields = try? Fields(json, of: document), let selection = try? Selection(fields)
            else { return nil }
            selections.append(selection)
        }
        return selections
    }
}
