import ArgumentParser
import PatchDaemon

/// Which new versions need approval, and when new versions may start.
struct PolicyOptions: ParsableArguments {
    @Option(DeviceSetting.consent) var consent: String?
    @Option(DeviceSetting.postponeLimit) var postponeLimit: String?
    @Option(DeviceSetting.window) var windows: [String] = []
    @Option(DeviceSetting.windowZone) var windowZone: String?

    func validate() throws {
        var given = GivenOptions()
        try add(to: &given)
        _ = try given.settings()
    }

    /// Adds the given options, which replace the previous settings.
    func add(to given: inout GivenOptions) throws(ValidationError) {
        try given.take(.option(consent), for: .consent)
        try given.take(.option(postponeLimit), for: .postponeLimit)
        try given.take(.option(windows), for: .window)
        try given.take(.option(windowZone), for: .windowZone)
    }
}
