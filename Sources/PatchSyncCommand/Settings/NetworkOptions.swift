import ArgumentParser
import CommandSupport
import PatchFetch
import PatchSync

/// How long a sync may take, and how often it tries.
struct NetworkOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "A whole sync, at most; what came until then is kept (default: 6 hours).",
            valueName: "seconds"
        )
    )
    var deadline: Int?

    @Option(
        name: .long,
        help: ArgumentHelp("How long a server may send nothing (default: 30).", valueName: "seconds")
    )
    var stallTimeout: Double?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How often more to try when the network is at fault and nothing comes (default: 4).",
            valueName: "count"
        )
    )
    var retries: Int?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The most that comes a second, of all servers together, such as 500kB (default: as fast as it comes).",
            valueName: "bytes"
        )
    )
    var limitRate: ByteCountArgument?

    func validate() throws {
        if let deadline, !(1...31_536_000).contains(deadline) {
            throw ValidationError("--deadline must be from 1 to 31536000 seconds")
        }
        if let stallTimeout, !(0.001...3_600).contains(stallTimeout) {
            throw ValidationError("--stall-timeout must be from 0.001 to 3600 seconds")
        }
        if let limitRate, !(Deadlines.leastRate...1_000_000_000_000).contains(limitRate.bytes) {
            throw ValidationError("--limit-rate must be from 1kB to 1TB")
        }
        if let retries, !(0...1_000).contains(retries) { throw ValidationError("--retries must be from 0 to 1000") }
    }

    var deadlines: Deadlines {
        var deadlines = Deadlines()
        if let deadline { deadlines.sync = .seconds(deadline) }
        if let stallTimeout { deadlines.stall = .seconds(stallTimeout) }
        if let retries { deadlines.retries = retries }
        deadlines.rate = limitRate?.bytes
        return deadlines
    }
}
