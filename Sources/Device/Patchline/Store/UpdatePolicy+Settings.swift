import PatchChoice
import PatchSync

extension UpdatePolicy {
    init(_ settings: PatchlineStore.Settings) throws(PatchlineError) {
        self.init()
        consent = Consent(rawValue: settings.consent.rawValue) ?? .automatic
        guard .zero...Self.longestLimit ~= settings.postponeLimit else {
            throw PatchlineError("postponeLimit must be from 0 to \(Self.longestLimit.components.seconds) seconds")
        }
        postponeLimit = .seconds(settings.postponeLimit.components.seconds)
        guard settings.windows.count <= MaintenanceWindows.most else {
            throw PatchlineError("windows must be at most \(MaintenanceWindows.most)")
        }
        for text in settings.windows {
            guard let window = MaintenanceWindows.Window(text) else {
                throw PatchlineError("windows: '\(text)' \(MaintenanceWindows.Window.rule)")
            }
            windows.windows.append(window)
        }
        guard let zone = WindowZone(settings.windowZone) else {
            throw PatchlineError("windowZone \(WindowZone.rule)")
        }
        do throws(ZoneFault) { _ = try SystemZones().rules(of: zone) } catch {
            throw PatchlineError("windowZone: \(error); \(error.hint)")
        }
        windows.zone = zone
    }
}
