import ArgumentParser
import PatchDaemon
import PatchSync

/// Whether the network is metered: for a device in `set`, for one run in `sync`.
struct MeteredOptions: ParsableArguments {
    @Flag(DeviceSetting.metered) var metered: Bool?
    @Option(DeviceSetting.allowance) var allowance: String?

    func validate() throws {
        var given = GivenOptions()
        try add(to: &given)
        _ = try given.settings()
    }

    func add(to given: inout GivenOptions) throws(ValidationError) {
        try given.take(.option(metered), for: .metered)
        try given.take(.option(allowance), for: .allowance)
    }

    /// Applies the options to one run.
    ///
    /// An allowance implies a metered network.
    func apply(toRun network: inout NetworkUse) {
        if let metered { network.isMetered = metered }
        guard let allowance else { return }
        network.isMetered = true
        // The text is valid, because it was parsed before.
        if case .number(let bytes)? = try? DeviceSetting.allowance.value(.text(allowance)) as SettingValue {
            network.allowance = bytes
        }
    }
}

/// The limits of the disk space and the network rate that downloads may use.
struct ShareOptions: ParsableArguments {
    @Option(DeviceSetting.limitRate) var limitRate: String?
    @Option(DeviceSetting.reserve) var reserve: String?

    func validate() throws {
        var given = GivenOptions()
        try add(to: &given)
        _ = try given.settings()
    }

    func add(to given: inout GivenOptions) throws(ValidationError) {
        try given.take(.option(limitRate), for: .limitRate)
        try given.take(.option(reserve), for: .reserve)
    }
}
