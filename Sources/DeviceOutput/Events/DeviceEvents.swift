import PatchChoice
import PatchFormat
import PatchSync
package import Patchline

/// From what one store's app and syncs tell to ``DeviceEvent``: the same events give the same sequence.
///
/// It remembers what was told, so that a device that syncs all day says each thing once.
package struct DeviceEvents: Sendable {
    /// Versions that were told to be new, by patch, until they are here.
    private var announced: [PatchID: VersionLabel] = [:]
    private var asked: Set<AskedRule> = []
    /// Scripts that run.
    private var scripts: Set<PatchContent> = []

    package init() {}

    package mutating func take(_ event: LocalServer.Event) -> [DeviceEvent] {
        switch event {
        case .syncing(let step): take(step)
        case .synced(.success(let report)): take(report, ServeEvent.told(of: event))
        case .synced(.failure): ServeEvent.told(of: event).map { DeviceEvent(.updateFail, $0) }
        case .app(let step): take(step, ServeEvent.told(of: event))
        case .parametersTrouble, .fileTrouble, .portTaken:
            ServeEvent.told(of: event).map { DeviceEvent(.exception, $0) }
        }
    }

    private mutating func take(_ event: SyncEvent) -> [DeviceEvent] {
        guard case .state(let id, let version, let state, _) = event else { return [] }
        let members = [("patchId", JSON.text(id.text)), ("version", JSON.text(version.text))] as [(String, JSON?)]
        switch state {
        case .add, .update:
            guard announced.updateValue(version, forKey: id) != version else { return [] }
            return [DeviceEvent(.update, "update", members)]
        case .unInstall:
            guard announced[id] == version else { return [] }
            announced[id] = nil
            return [DeviceEvent(.updateDone, "updateDone", members)]
        case .success, .fileNotExist, .fileNotMatch, .unknownError: return []
        }
    }

    private mutating func take(_ report: SyncReport, _ told: [ServeEvent]) -> [DeviceEvent] {
        let news = report.asked.filter { !asked.contains($0) }
        // What is listed no more is forgotten: it is news when it comes back.
        asked = Set(report.asked)
        let questions = news.map { news in
            let (type, name): (PatchEventType, String) =
                switch news.question {
                case .share: (.gray, "gray")
                case .condition: (.condition, "condition")
                }
            return DeviceEvent(type, name, news.label.members, answer: .asked(news.question, isHit: news.isHit))
        }
        let failures = zip(report.failures, told.dropFirst()).map { failure, told in
            let label = Label(patchID: failure.patchID, version: failure.version)
            return DeviceEvent(.updateFail, told.name, told.members + label.members)
        }
        return questions + failures + told.prefix(1).map { DeviceEvent(.unknown, $0) }
    }

    private mutating func take(_ event: RunningApp.Event, _ told: [ServeEvent]) -> [DeviceEvent] {
        switch event {
        case .serving(let selection, _):
            return told.map { DeviceEvent(.unknown, $0) } + run(selection)
        case .nothingInstalled:
            scripts = []
            return told.map { DeviceEvent(.unknown, $0) }
        case .confirmed, .following, .parametersChanged: return told.map { DeviceEvent(.unknown, $0) }
        case .withdrawn: return told.map { DeviceEvent(.updateDone, $0, answer: .rollback) }
        case .rolledBack: return told.map { DeviceEvent(.updateFail, $0, answer: .rollback) }
        case .unproven: return told.map { DeviceEvent(.updateFail, $0) }
        case .damaged, .bundleMissing, .stateFault, .trouble: return told.map { DeviceEvent(.exception, $0) }
        }
    }

    /// The scripts that ran already are not told again.
    private mutating func run(_ selection: Selection) -> [DeviceEvent] {
        let running = selection.patches.filter { $0.kind == .script }
        defer { scripts = Set(running.map(\.content)) }
        return running.filter { !scripts.contains($0.content) }
            .map { DeviceEvent(.runScript, "script", $0.label.members) }
    }
}

extension Label {
    fileprivate var members: [(String, JSON?)] {
        [("patchId", .text(patchID.text)), ("version", .text(version.text))]
    }
}
