import ArgumentParser
import CommandSupport
import PatchChoice
import PatchSync

extension Consent: ExpressibleByArgument {}

/// Who is asked about what is new, and when it may start.
struct PolicyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Which new versions come without asking: automatic (all), security (those that close a security hole), ask (none).
            """,
            valueName: "which"
        )
    )
    var consent: Consent?

    @Option(
        help: ArgumentHelp(
            "How long `patchsync postpone` may put off what is new, in a row: 3d, 12h, or 0 for not at all (default: 7d).",
            valueName: "time"
        )
    )
    var postponeLimit: PostponeLimit?

    @Option(
        name: .customLong("window"),
        help: ArgumentHelp(
            "New versions start in these hours only: 'mon-fri 02:00-04:00', or '02:00-04:00' for every day. Repeat it for several; '' for any time.",
            valueName: "hours"
        )
    )
    var windows: [String] = []

    @Option(
        help: ArgumentHelp(
            "The clock of these hours: UTC, an offset such as +01:00, a time zone such as Europe/Berlin, or local for the machine's.",
            valueName: "zone"
        )
    )
    var windowZone: String?

    func validate() throws {
        for window in windows where !window.isEmpty && MaintenanceWindows.Window(window) == nil {
            throw ValidationError("--window \(MaintenanceWindows.Window.rule)")
        }
        guard windows.count <= MaintenanceWindows.most else {
            throw ValidationError("at most \(MaintenanceWindows.most) windows")
        }
        guard let windowZone else { return }
        guard let zone = WindowZone(windowZone) else { throw ValidationError("--window-zone \(WindowZone.rule)") }
        do throws(ZoneFault) { _ = try SystemZones().rules(of: zone) } catch {
            throw ValidationError("--window-zone: \(error); \(error.hint)")
        }
    }

    /// What stands replaces what was set before.
    func apply(to policy: inout UpdatePolicy) {
        if let consent { policy.consent = consent }
        if let postponeLimit { policy.postponeLimit = postponeLimit.duration }
        if !windows.isEmpty { policy.windows.windows = windows.compactMap { MaintenanceWindows.Window($0) } }
        if let zone = windowZone.flatMap({ WindowZone($0) }) { policy.windows.zone = zone }
    }
}

/// `3d`, at most a year, or 0.
struct PostponeLimit: ExpressibleByArgument {
    let duration: Duration

    init?(argument: String) {
        guard argument != "0" else {
            duration = .zero
            return
        }
        guard let given = DurationArgument(argument: argument), given.duration <= UpdatePolicy.longestLimit else {
            return nil
        }
        duration = given.duration
    }
}
