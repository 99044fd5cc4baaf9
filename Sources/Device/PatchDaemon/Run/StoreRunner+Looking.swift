import DeviceOutput
import PatchChoice
import PatchFetch
import PatchFormat
import PatchStore
import PatchSync
import Patchline

/// Checking for new versions.
extension StoreRunner {
    /// Runs a sync without a ``LocalServer``, and reports the same events.
    func syncWithoutPages(_ wish: Updates.SyncRequest) async throws(SyncError) -> SyncReport {
        let result: Result<SyncReport, SyncError>
        do throws(SyncError) {
            result = .success(
                try await device().sync(wish, settings.limits(environment.deadlines)) {
                    [settings, report = environment.report] event in
                    report(settings, .syncing(event))
                }
            )
        } catch { result = .failure(error) }
        // A sync that ends with the daemon has not failed. A store whose folder was removed is created again.
        guard !isStopped else { return try result.get() }
        if case .failure = result, (try? environment.open(settings.store)).map(Self.isRemoved) == true {
            steps?.yield(.removed)
            return try result.get()
        }
        let event = DeviceEvent.synced(result)
        if let outcome = Schedule.Outcome(event) { steps?.yield(.synced(outcome)) }
        emit(event)
        return try result.get()
    }

    /// - Parameter server: The server, or nil while another listener has the port.
    func look(_ stream: AsyncStream<Step>, _ device: Device, _ server: LocalServer?) async {
        var timer: Task<Void, Never>?
        var network: Task<Void, Never>?
        defer {
            timer?.cancel()
            network?.cancel()
        }
        func plan(_ look: NextContact?) {
            timer?.cancel()
            timer = nil
            planned = look.map { ($0, .now) }
            guard let look else { return }
            timer = Task { [sleep = environment.sleep, steps] in
                do {
                    if look.seconds > 0 { try await sleep(.seconds(look.seconds)) }
                    steps?.yield(.due)
                } catch {
                    // Another check is planned.
                }
            }
        }
        // It was planned before this attempt to get the port.
        plan(hasOtherSource ? firstContact(device) : nextContact() ?? firstContact(device))
        for await step in stream {
            switch step {
            case .due:
                planned = (NextContact(seconds: 0, reason: .now), .now)
                lastTry = .now
                do throws(SyncError) {
                    if let server {
                        _ = try await server.sync(Updates.SyncRequest())
                    } else {
                        _ = try await syncWithoutPages(Updates.SyncRequest())
                    }
                } catch .lock(.held) {
                    plan(next(after: .busy))
                } catch {
                    // The failure is reported as an event, as for every other sync.
                }
            case .synced(let outcome):
                lastTry = .now
                plan(next(after: outcome))
                await switchIfUndisturbed()
                environment.onIdle()
            case .holdEnded: await switchIfUndisturbed()
            case .adjusted: plan(firstContact(device))
            case .removed:
                guard !isRemoved else { break }
                isRemoved = true
                emit(.removed)
                pausing?.cancel()
                await server?.stop()
            case .network:
                guard
                    let look = schedule.networkBecameAvailable(
                        age: lastTry?.duration(to: .now) ?? Schedule.networkPause
                    )
                else { break }
                plan(look)
            }
            if schedule.awaitsNetwork, network == nil {
                network = Task { [changes = environment.networkChanges, steps] in
                    for await _ in changes { steps?.yield(.network) }
                }
            } else if !schedule.awaitsNetwork {
                network?.cancel()
                network = nil
            }
        }
    }

    /// Returns the first check after a start or a change of the settings.
    private func firstContact(_ device: Device) -> NextContact? {
        guard !hasOtherSource else {
            hasOtherSource = false
            return settings.syncs ? NextContact(seconds: 0, reason: .interval) : nil
        }
        return schedule.first(age: device.timeSinceSync(), isInstalled: isInstalled, random: environment.random())
    }

    private func next(after outcome: Schedule.Outcome) -> NextContact? {
        schedule.next(after: outcome, isInstalled: isInstalled, random: environment.random())
    }

    private var isInstalled: Bool {
        guard let state = try? device().state().machine.state else { return false }
        return if case .empty = state { false } else { true }
    }

    /// Starts the pending selection if no open page is disturbed: in the background, and before any page was loaded (E7).
    ///
    /// A selection that requires a launch still waits for one (J4).
    func switchIfUndisturbed() async {
        guard let server, isInBackground || !server.hasPages,
            let state = try? device().state(), case .pending(_, let next) = state.machine.state,
            next.activates != .atNextLaunch
        else { return }
        do throws(SyncError) { try await server.startPending() } catch .nothingPending {} catch .heldBack(let held) {
            let pause = held.until.since(environment.now())
            hold?.cancel()
            hold = Task { [sleep = environment.sleep, steps] in
                if (try? await sleep(pause)) != nil { steps?.yield(.holdEnded) }
            }
        } catch {
            emit(.storeFailed(Failure(error)))
        }
    }
}
