import PatchChoice
package import PatchFormat
import PatchStore
import PatchCrypto
import PatchTrust
import ReleaseFolder
package import SystemPackage

/// `channels/CHANNEL/state.json`, and its replacement when it cannot be read.
///
/// ```
/// state.json             refers to its selections by the digests of their files
/// state.previous.json    the state before the last change, with its selections
/// state.damaged.json     the last unreadable state, kept for inspection
/// ```
extension DeviceStore {
    /// A state, and the reason if it was not read from `state.json`.
    struct FoundState {
        var state: DeviceState
        var fault: StateFault?
    }

    package func stateFile(_ channel: ChannelName) -> FilePath { directory(of: channel).at("state.json") }

    private func previousFile(_ channel: ChannelName) -> FilePath { directory(of: channel).at("state.previous.json") }

    private func damagedFile(_ channel: ChannelName) -> FilePath { directory(of: channel).at("state.damaged.json") }

    package func state(of channel: ChannelName) throws(SyncError) -> DeviceState {
        try foundState(of: channel).state
    }

    /// Why the state was not read from `state.json`, or nil if it was.
    package func stateFault(of channel: ChannelName) throws(SyncError) -> StateFault? {
        try foundState(of: channel).fault
    }

    /// The unreadable state that was set aside, or nil if there is none.
    package func damagedState(of channel: ChannelName) -> FilePath? {
        let path = damagedFile(channel)
        return ((try? files.identity(of: path)) ?? nil).map { _ in path }
    }

    func foundState(of channel: ChannelName) throws(SyncError) -> FoundState {
        let path = stateFile(channel)
        let error: SyncError
        do throws(SyncError) {
            if let state = try readState(path, of: channel) { return FoundState(state: state) }
            guard try exists(previousFile(channel)) else { return FoundState(state: DeviceState()) }
            error = .file(.notFound(.read, path))
        } catch let fault {
            guard fault.isFileFault else { throw fault }
            error = fault
        }
        func found(_ state: DeviceState, _ standby: StateFault.Standby) -> FoundState {
            FoundState(state: state, fault: StateFault(file: path, error: error, standby: standby))
        }
        for path in [stateFile(channel), previousFile(channel)] {
            if let standby = try standby(path, of: channel) { return found(standby, .previous) }
        }
        return try shippedState(in: channel).map { found($0, .embedded) } ?? found(DeviceState(), .nothing)
    }

    /// The state that the device would use if `state.json` were unreadable, or nil if no earlier one is usable.
    func standby(of channel: ChannelName) throws(SyncError) -> DeviceState? {
        try standby(previousFile(channel), of: channel)
    }

    /// A state prepared to replace a later one.
    ///
    /// The files of its selections may be lost.
    private func standby(_ path: FilePath, of channel: ChannelName) throws(SyncError) -> DeviceState? {
        let found: DeviceState?
        do throws(SyncError) { found = try readState(path, of: channel, findingLost: true) } catch {
            guard error.isFileFault else { throw error }
            return nil
        }
        // The lost change may have recorded that the pending selection or the trial failed.
        guard var state = found, state.machine.recoverSelection() else { return nil }
        return state
    }

    /// Returns nil if the file does not exist.
    ///
    /// - Parameter findingLost: Whether a selection whose file is wrong is returned as a lost one.
    private func readState(
        _ path: FilePath,
        of channel: ChannelName,
        findingLost: Bool = false
    ) throws(SyncError) -> DeviceState? {
        guard let bytes = try optional(path, limit: Limits.stateFile) else { return nil }
        // The reason why a selection could not be read. Its file need not be the cause.
        var trouble: SyncError?
        do throws(FormatError) {
            return try DeviceState(
                bytes,
                named: path.string,
                finding: .init(
                    selection: { digest throws(FormatError) in
                        do throws(SyncError) { return try selection(digest, of: channel) } catch {
                            if findingLost, error.isFileFault { return SelectionContent(unread: digest) { nil } }
                            trouble = error
                            throw FormatError(path.string, rule: "names a selection that cannot be read")
                        }
                    },
                    earlier: { earlierSelection($0, of: channel) }
                )
            )
        } catch { throw trouble ?? .format(error) }
    }

    private func shippedState(in channel: ChannelName) throws(SyncError) -> DeviceState? {
        let configuration = try configuration()
        guard let path = configuration.embedded else { return nil }
        let folder: EmbeddedFolder
        do throws(ReleaseError) { folder = try EmbeddedFolder(path, files: files) } catch {
            if case .file(let error) = error, !error.isNotFound { throw .file(error) }
            return nil
        }
        do throws(SyncError) {
            let shipped = try VerifiedEmbedded(folder, for: configuration.app, in: self)
            return DeviceState(startingFrom: shipped, in: channel)
        } catch {
            if case .embedded(_, .file(let error)) = error, !error.isNotFound { throw .file(error) }
            return nil
        }
    }

    private func exists(_ path: FilePath) throws(SyncError) -> Bool {
        try wrapped { () throws(FileError) in try files.identity(of: path) } != nil
    }

    // MARK: Writing

    /// Stores the state durably with the selections that it refers to.
    ///
    /// If that fails, the previous state is unchanged.
    ///
    /// - Throws: `unreadable`, with nothing changed, for a state that could not be read again.
    package func save(_ state: DeviceState, of channel: ChannelName) throws(SyncError) {
        var state = state
        state.bound()
        let bytes = state.json.fileBytes
        try check(bytes, mean: state, at: stateFile(channel))
        // Checked first: a rejected state must leave no files behind.
        for selection in state.selections { try write(selection, of: channel) }
        try wrapped { () throws(FileError) in try files.makeDirectory(directory(of: channel)) }
        if let before = try setAside(channel) {
            removeSelections(of: channel, but: Set((state.selections + before.selections).map(\.content.digest)))
        }
        try wrapped { () throws(FileError) in
            try files.replace("state.json", in: directory(of: channel), with: bytes)
        }
    }

    private func check(_ bytes: [UInt8], mean state: DeviceState, at path: FilePath) throws(SyncError) {
        let known = Dictionary(state.selections.map { ($0.content.digest, $0.content) }) { first, _ in first }
        do throws(FormatError) {
            let read = try DeviceState(
                bytes,
                named: path.string,
                finding: .init(
                    selection: { digest throws(FormatError) in
                        guard let content = known[digest] else {
                            throw FormatError(path.string, rule: StoreRule.selection)
                        }
                        return content
                    },
                    earlier: { known[$0] }
                )
            )
            guard read == state else { throw FormatError(path.string, rule: StoreRule.readBack) }
        } catch { throw .unreadable(error) }
    }

    /// Makes the previous state equal to the present one if it refers to files that are to be removed.
    ///
    /// It must remain usable.
    ///
    /// The caller holds the writer lock.
    func updatePreviousState(of channel: ChannelName) throws(SyncError) {
        let present = try foundState(of: channel)
        guard present.fault == nil, let standby = try standby(of: channel) else { return }
        let kept = Set(present.state.selections.flatMap { $0.patches.map(\.content) })
        guard !standby.selections.allSatisfy({ $0.contents.isSubset(of: kept) }) else { return }
        guard let bytes = try optional(stateFile(channel), limit: Limits.stateFile) else { return }
        // A copy, not a link: damage to one file must not affect the other.
        try save(bytes, as: "state.previous.json", of: channel)
    }

    /// Makes the present state the previous one, or sets it aside if it is unreadable.
    ///
    /// - Returns: the previous state, or nil if there is none.
    private func setAside(_ channel: ChannelName) throws(SyncError) -> DeviceState? {
        let (path, previous) = (stateFile(channel), previousFile(channel))
        let state: DeviceState?
        do throws(SyncError) { state = try readState(path, of: channel) } catch {
            guard error.isFileFault else { throw error }
            try wrapped { () throws(FileError) in try files.rename(path, to: damagedFile(channel)) }
            return nil
        }
        guard state != nil else { return nil }
        let sibling = directory(of: channel).at(".state.previous.json.new")
        try wrapped { () throws(FileError) in
            try files.removeIfPresent(sibling)
            do throws(FileError) { try files.link(path, to: sibling) } catch .cannotLink {
                try files.write(try files.read(path, limit: Limits.stateFile), to: sibling)
            }
            try files.rename(sibling, to: previous)
            // If both names already referred to one file, rename(2) leaves both.
            try files.removeIfPresent(sibling)
        }
        return state
    }

    /// Removes the previous state and the damaged one.
    ///
    /// States for another build of the app are not usable as a fallback.
    func forgetPreviousState(of channel: ChannelName) throws(FileError) {
        try files.removeIfPresent(previousFile(channel))
        try files.removeIfPresent(damagedFile(channel))
    }
}

extension FileError {
    fileprivate var isNotFound: Bool {
        if case .notFound = self { true } else { false }
    }
}

/// The rules that a well-formed file of the store must follow.
enum StoreRule {
    static let name = "does not match its name"
    static let readBack = "cannot be read back as it was written"
    static let selection = "names a selection that it does not have"
}
