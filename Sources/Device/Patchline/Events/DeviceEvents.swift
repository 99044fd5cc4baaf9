import AssetServer
import PatchChoice
import PatchFormat
import PatchSync

/// From what one store's app and syncs tell to ``DeviceEvent``: the same events give the same sequence.
///
/// It remembers what was told, so that a device that syncs all day says each thing once.
package struct DeviceEvents: Sendable {
    /// Versions that were told to be new, by patch, until they are here.
    private var announced: [PatchID: VersionLabel] = [:]
    private var asked: Set<AskedRule> = []
    /// Versions that wait for somebody's approval.
    private var awaiting: [AwaitedVersion] = []
    /// Scripts that run.
    private var scripts: Set<PatchContent> = []

    package init() {}

    package mutating func take(_ event: LocalServer.Event) -> [DeviceEvent] {
        switch event {
        case .syncing(let step): take(step)
        case .synced(.success(let report)): take(report) + [DeviceEvent(.unknown, .told(event))]
        case .synced(.failure): [DeviceEvent(.updateFail, .told(event))]
        case .app(let step): [DeviceEvent(Self.type(of: step), .told(event))] + run(step)
        case .decided(let decision): Self.told(of: decision)
        case .parametersTrouble: [DeviceEvent(.exception, .told(event))]
        // For people alone.
        case .fileTrouble, .portTaken: []
        }
    }

    private mutating func take(_ event: SyncEvent) -> [DeviceEvent] {
        switch event {
        case .state(let id, let version, let state, _): take(state, of: id, version)
        case .approved(let versions): Self.told(of: .approved(versions))
        default: []
        }
    }

    private mutating func take(_ state: PatchState, of id: PatchID, _ version: VersionLabel) -> [DeviceEvent] {
        let label = Label(patchID: id, version: version)
        switch state {
        case .add, .update:
            guard announced.updateValue(version, forKey: id) != version else { return [] }
            return [DeviceEvent(.update, .update(label))]
        case .unInstall:
            guard announced[id] == version else { return [] }
            announced[id] = nil
            return [DeviceEvent(.updateDone, .updateDone(label))]
        case .success, .fileNotExist, .fileNotMatch, .unknownError: return []
        }
    }

    private mutating func take(_ report: SyncReport) -> [DeviceEvent] {
        let news = report.asked.filter { !asked.contains($0) }
        // What is listed no more is forgotten: it is news when it comes back.
        asked = Set(report.asked)
        let questions = news.map { news in
            switch news.question {
            case .share: DeviceEvent(.gray, .asked(news))
            case .condition: DeviceEvent(.condition, .asked(news))
            }
        }
        let waiting = report.awaiting.filter { !awaiting.contains($0) }.map { DeviceEvent(.update, .awaiting($0)) }
        awaiting = report.awaiting
        return questions + waiting + report.failures.map { DeviceEvent(.updateFail, .failed($0)) }
    }

    private static func told(of decision: PersonDecision) -> [DeviceEvent] {
        switch decision {
        case .approved(let versions): versions.map { DeviceEvent(.unknown, .approved($0)) }
        case .postponed(let until): [DeviceEvent(.unknown, .postponed(until: until))]
        case .postponementEnded: [DeviceEvent(.unknown, .postponementEnded)]
        }
    }

    private static func type(of event: RunningApp.Event) -> PatchEventType {
        switch event {
        case .serving, .nothingInstalled, .confirmed, .superseded, .following, .parametersChanged: .unknown
        case .withdrawn: .updateDone
        case .rolledBack, .unproven: .updateFail
        case .scriptFailed: .jsException
        case .damaged, .scriptsLeftOut, .stalePage, .bundleMissing, .stateFault, .trouble: .exception
        }
    }

    /// The scripts that ran already are not told again.
    private mutating func run(_ event: RunningApp.Event) -> [DeviceEvent] {
        switch event {
        case .serving(let selection, _):
            let running = selection.patches.filter { $0.kind == .script }
            defer { scripts = Set(running.map(\.content)) }
            return running.filter { !scripts.contains($0.content) }
                .map { DeviceEvent(.runScript, .script($0.label)) }
        case .nothingInstalled:
            scripts = []
            return []
        default: return []
        }
    }
}
