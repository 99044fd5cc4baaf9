import ArgumentParser
import CommandSupport
import PatchFetch
import PatchSync

/// Whether bytes cost something: of a device by `set`, of one run by `sync`.
struct MeteredOptions: ParsableArguments {
    @Flag(
        inversion: .prefixedNo,
        help: "Bytes cost something here: fetch what is mandatory, and else what fits into the allowance. Default: no."
    )
    var metered: Bool?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "While metered, fetch so much of what is not mandatory in one sync, such as 20kB (default: 0B).",
            valueName: "bytes"
        )
    )
    var allowance: ByteCountArgument?

    func validate() throws {
        if let allowance, !(0...NetworkUse.most).contains(allowance.bytes) {
            throw ValidationError("--allowance must be from 0B to 1TB")
        }
    }

    func apply(to network: inout NetworkUse) {
        if let metered { network.isMetered = metered }
        if let allowance { network.allowance = allowance.bytes }
    }

    /// For one run an allowance says that it is metered.
    func apply(toRun network: inout NetworkUse) {
        apply(to: &network)
        if allowance != nil { network.isMetered = true }
    }
}

/// The part of the disk that downloads leave to others.
struct ReserveOption: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "Refuse a download that leaves less than this free on the disk, such as 64MB (default: 1 % of the disk, from 16 MB "
                + "to 256 MB).",
            valueName: "bytes"
        )
    )
    var reserve: ByteCountArgument?

    func validate() throws {
        if let reserve, !(0...NetworkUse.most).contains(reserve.bytes) {
            throw ValidationError("--reserve must be from 0B to 1TB")
        }
    }

    func apply(to configuration: inout DeviceConfiguration) {
        if let reserve { configuration.reserve = reserve.bytes }
    }
}

/// The most that comes a second, as a device keeps it.
struct KeptRateOption: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The most that comes a second in each sync, such as 500kB; 0B for as fast as it comes.",
            valueName: "bytes"
        )
    )
    var limitRate: ByteCountArgument?

    func validate() throws {
        if let limitRate, limitRate.bytes != 0, !(Deadlines.leastRate...NetworkUse.most).contains(limitRate.bytes) {
            throw ValidationError("--limit-rate must be from 1kB to 1TB, or 0B for no limit")
        }
    }

    func apply(to network: inout NetworkUse) {
        if let limitRate { network.rate = limitRate.bytes == 0 ? nil : limitRate.bytes }
    }
}
