package import PatchChoice
package import PatchFormat
package import SystemPackage

/// The states that a patch went through in a sync.
package struct PatchStates: Equatable, Sendable {
    package let patchID: PatchID
    package let version: VersionLabel
    package private(set) var states: [PatchState]
    package private(set) var fault: String?
    /// Of a script that is as it should be: the file that holds it.
    package private(set) var file: FilePath?
}

extension [PatchStates] {
    /// In the order in which a sync comes to them.
    package mutating func take(_ event: SyncEvent) {
        guard case .state(let id, let version, let state, let fault) = event else { return }
        if let index = firstIndex(where: { $0.patchID == id }) {
            self[index].take(state, fault)
        } else {
            append(PatchStates(patchID: id, version: version, states: [state], fault: fault))
        }
    }
}

extension PatchStates {
    fileprivate mutating func take(_ state: PatchState, _ fault: String?) {
        if states.last != state { states.append(state) }
        self.fault = self.fault ?? fault
    }

    func with(_ file: FilePath?) -> PatchStates {
        var patch = self
        patch.file = file
        return patch
    }
}
