import PatchChoice
import PatchCrypto
package import AssetServer
package import PatchFormat
import PatchSync

/// The page API's calls, as a running app answers them.
extension RunningApp: PageHost {
    package func confirm(_ text: String) async -> ReadyOutcome {
        guard let token = LaunchToken(text) else { return .otherLaunch }
        do throws(SyncError) {
            // Another process may have changed the channel.
            switch try await device.reopened().confirm(token) {
            case .confirmed:
                // Must precede the response: the page may request the status next, and the watcher has a delay.
                await attempt { () throws(SyncError) in try await self.follow() }
                return .confirmed
            case .alreadyConfirmed: return .alreadyConfirmed
            case .otherLaunch, .nothingOnTrial, .nothingToConfirm: return .otherLaunch
            }
        } catch { return .failed }
    }

    package func scriptFailed(_ failure: ScriptFailure, _ sha256: SHA256Digest) async -> ScriptFailureOutcome {
        var token: LaunchToken?
        if let text = failure.launch {
            guard let named = LaunchToken(text) else { return .unknown }
            token = named
        }
        let script = PatchContent(patchID: failure.patchID, sha256: sha256)
        do throws(SyncError) {
            let verdict =
                switch failure.fault {
                case .threw: try await device.scriptFailed(script, in: token, error: failure.pageError)
                case .unloaded: try device.state().machine.verdict(onUnloaded: script, in: token)
                }
            guard verdict != .otherLaunch else { return .unknown }
            notify(failure)
            guard case .ends(let activation) = verdict else { return .told }
            try show(activation)
            return .rolledBack
        } catch {
            report(.trouble(error))
            return .failed
        }
    }

    /// Stores the trial's first error only.
    ///
    /// A failure to store it is ignored, because it only explains the outcome.
    package func pageFailed(_ error: PageError, in text: String) async {
        guard let token = LaunchToken(text), trial?.token == token else { return }
        _ = try? await device.pageFailed(error, in: token)
    }

    /// Reports a stale page once for each version, because every tab reports it.
    package func pageStaysStale(_ version: String?) async {
        guard staleVersions.count < Self.mostStaleVersions, staleVersions.insert(version ?? "").inserted else { return }
        report(.stalePage(version: version))
    }

    private static let mostStaleVersions = 100

    /// Reports a script's failure, unless it equals the last one reported for that script.
    private func notify(_ failure: ScriptFailure) {
        guard !failedScripts.contains(failure) else { return }
        failedScripts.removeAll { $0.label == failure.label }
        failedScripts = failedScripts.suffix(Self.mostFailedScripts - 1) + [failure]
        report(.scriptFailed(failure))
    }

    private static let mostFailedScripts = 100

    package func switchToPending() async -> Switching {
        do throws(SyncError) { try await startPending() } catch {
            return .refused(PageText.withoutFolders(error.description))
        }
        return .switched
    }

    package func checkForUpdates() async -> CheckStart {
        await updates?.check() ?? .switchedOff
    }

    package func status() -> PageStatus {
        var status = PageStatus(app: device.configuration.app.text, channel: device.configuration.channel.text)
        status.current = serving.flatMap(version)
        status.failedScripts = failedScripts
        guard let state = try? device.state() else { return status }
        if case .pending(_, let next) = state.machine.state {
            status.pending = version(of: next)
            status.starts = next.activates.rawValue
            status.hold = device.hold(on: state)?.json
        }
        status.awaiting = ((try? device.awaiting()) ?? []).map(\.json)
        status.lastSync = state.lastSync?.at.description
        return status
    }

    package func parameters() -> PageParameters {
        known.map(page) ?? PageParameters(channel: device.configuration.channel.text, values: [:])
    }

    package func debugReport() -> JSON {
        let configuration = device.configuration
        let state = try? device.state()
        return .fields([
            ("app", .text(configuration.app.text)), ("channel", .text(configuration.channel.text)),
            ("server", .text(configuration.server.text)),
            ("appVersion", configuration.appVersion.map { .text($0.text) }),
            ("appBuild", configuration.appBuild.map { .text($0.text) }),
            ("platform", configuration.platform.map { .text($0.name) }), ("time", .text(device.now().description)),
            ("phase", state.map { .text($0.machine.state.phase.rawValue) }),
            ("lastSync", state?.lastSync.map { .text($0.at.description) }),
            ("lastFailure", device.store.syncFailure(of: configuration.channel)?.json),
            ("roleVersion", state?.lastSync.map { .integer($0.roleVersion) }),
            ("running", .array(state?.machine.state.running?.patches.map(\.reported) ?? [])),
            ("pending", state.map { .array($0.machine.pendingPatches.map(\.reported)) }),
            ("blocks", state?.reportedBlocks),
            ("pageError", state?.pageError?.json), ("damaged", damaged.map { .text($0) }),
            ("failedScripts", failedScripts.isEmpty ? nil : .array(failedScripts.map(\.json))),
            ("events", .array(events.map(\.reported))),
        ])
    }
}

extension ScriptFailure {
    fileprivate var pageError: PageError {
        PageError(message: message, source: label.description, line: line, column: column)
    }
}

extension InstalledPatch {
    fileprivate var reported: JSON { .text("\(patchID) \(version)") }
}

extension SelectionMachine {
    fileprivate var pendingPatches: [InstalledPatch] {
        if case .pending(_, let next) = state { next.patches } else { [] }
    }
}

extension DeviceState {
    fileprivate var reportedBlocks: JSON {
        .array(
            machine.blocks.blocks.sorted { $0.key < $1.key }.map { content, block in
                let setback = Setback(reason: block.reason, error: block.error)
                return .text("\(content.patchID) \(block.version): \(setback), until \(block.until)")
            }
        )
    }

    /// The first page error of the current trial.
    fileprivate var pageError: PageError? {
        if case .trying(_, _, let launch) = machine.state { launch.error } else { nil }
    }
}

extension PageEvent {
    fileprivate var reported: JSON { .fields([("event", .text(name)), ("data", json)]) }
}
