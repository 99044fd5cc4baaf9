import ArgumentParser
import PatchDaemon
import PatchSync

/// Whether bytes cost something: of a device by `set`, of one run by `sync`.
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

    /// For one run an allowance says that it is metered.
    func apply(toRun network: inout NetworkUse) {
        if let metered { network.isMetered = metered }
        guard let allowance else { return }
        network.isMetered = true
        // Valid, since it was parsed.
        if case .number(let bytes)? = try? DeviceSetting.allowance.value(.text(allowance)) as SettingValue {
            network.allowance = bytes
        }
    }
}

/// The part of the disk and of the line that downloads leave to others.
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
