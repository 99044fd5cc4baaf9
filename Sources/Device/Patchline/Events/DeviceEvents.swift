import PatchChoice
import PatchFormat
import PatchSync

/// The events of one store for its log and the local API, made from the events that its app and syncs report.
///
/// Adds the events of each patch, and drops repeated ones. The same reports give the same sequence.
package struct DeviceEvents: Sendable {
    /// Versions reported as new that are not downloaded yet.
    private var announced: [PatchID: VersionLabel] = [:]
    private var asked: Set<EvaluatedRule> = []
    /// Versions that wait for approval.
    private var awaiting: [AwaitedVersion] = []
    /// The running scripts.
    private var scripts: Set<PatchContent> = []

    package init() {}

    package mutating func take(_ event: DeviceEvent) -> [DeviceEvent] {
        switch event {
        case .syncing(.state(let id, let version, let state, _)):
            return take(state, of: Label(patchID: id, version: version))
        case .syncing(.approved(let labels)): return labels.map { .approved($0) }
        case .synced(.success(let report)): return take(report) + [event]
        case .serving(let selection, _): return [event] + newScripts(of: selection)
        case .nothingInstalled:
            scripts = []
            return [event]
        case .following, .withdrawn, .damaged, .confirmed, .rolledBack, .scriptFailed, .scriptsLeftOut, .stalePage,
            .unproven, .superseded, .bundleMissing, .stateFault, .parametersChanged, .trouble, .synced(.failure),
            .parametersTrouble,
            .update, .updateDone, .failed, .noRoom, .script, .asked, .awaiting, .approved, .postponed,
            .postponementEnded:
            return [event]
        // Only the process that reports these prints them.
        case .syncing, .portTaken, .fileTrouble, .made, .differs, .follows, .removed, .listening, .proxyLine,
            .storeFailed:
            return []
        }
    }

    private mutating func take(_ state: PatchState, of label: Label) -> [DeviceEvent] {
        switch state {
        case .add, .update:
            let isKnown = announced.updateValue(label.version, forKey: label.patchID) == label.version
            return isKnown ? [] : [.update(label)]
        case .unInstall:
            guard announced[label.patchID] == label.version else { return [] }
            announced[label.patchID] = nil
            return [.updateDone(label)]
        case .success, .fileNotExist, .fileNotMatch, .unknownError: return []
        }
    }

    private mutating func take(_ report: SyncReport) -> [DeviceEvent] {
        let questions = report.asked.filter { !asked.contains($0) }
        // A rule that is listed again later is reported again.
        asked = Set(report.asked)
        let waiting = report.awaiting.filter { !awaiting.contains($0) }
        awaiting = report.awaiting
        return questions.map { .asked($0) } + waiting.map { .awaiting($0) } + report.failures.map { .failed($0) }
    }

    private mutating func newScripts(of selection: Selection) -> [DeviceEvent] {
        let running = selection.patches.filter { $0.kind == .script }
        defer { scripts = Set(running.map(\.content)) }
        return running.filter { !scripts.contains($0.content) }.map { .script($0.label) }
    }
}
