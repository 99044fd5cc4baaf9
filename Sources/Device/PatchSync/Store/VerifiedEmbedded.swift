import PatchChoice
package import PatchFormat
import PatchStore
import PatchTrust
package import ReleaseFolder
import SystemPackage

/// The embedded selection, after every signature and digest in it was checked.
package struct VerifiedEmbedded: Sendable {
    package let document: EmbeddedDocument
    package let sha256: SHA256Digest
    let records: VerifiedRecords

    /// - Parameters:
    ///   - app: The app that the folder must belong to.
    ///   - store: The store whose device is to run it.
    package init(_ folder: EmbeddedFolder, for app: AppID, in store: DeviceStore) throws(SyncError) {
        do throws(TrustError) {
            try store.admission.check(folder.document.entryKeys, role: folder.document.channel.text)
        } catch { throw .embedded(folder.path, .trust(error)) }
        do throws(ReleaseError) {
            guard folder.document.app == app else {
                let found = folder.document.app.text
                throw .trust(
                    .foreign(document: EmbeddedLayout.document, field: "app", found: found, expected: app.text)
                )
            }
            records = try folder.verify(files: store.files)
        } catch { throw .embedded(folder.path, error) }
        document = folder.document
        sha256 = folder.sha256
    }

    /// The embedded selection as the first of a channel's state.
    func selection(number: Int, in channel: ChannelName) -> Selection {
        Selection(
            number: number,
            roleVersion: document.roleVersion,
            patches: document.patches.enumerated().map { turn, patch in
                InstalledPatch(patch.entry, column: patch.column).taking(turn: turn)
                    .recorded(in: channel, from: document.channel)
            },
            entryKeys: document.entryKeys
        )
    }
}

extension DeviceState {
    /// A channel's state before the first sync: the embedded selection is active, and is the target of a rollback.
    init(startingFrom embedded: VerifiedEmbedded, in channel: ChannelName, after number: Int = 0) {
        self.init()
        let selection = embedded.selection(number: number + 1, in: channel)
        lastSelection = selection.number
        machine = SelectionMachine(state: .settled(selection), embedded: selection)
    }
}
