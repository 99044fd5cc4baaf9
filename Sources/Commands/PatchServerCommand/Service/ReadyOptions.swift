import ArgumentParser
import CommandKit
import PatchFormat
import PatchServer
import PatchStore
import SystemPackage

/// The options for readiness: when a running server reports that it is not ready.
struct ReadyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "/readyz reports a role that people sign this long before it expires: 7d, 12h (default: 7d).",
            valueName: "time"
        )
    )
    var readyWithin: DurationArgument?

    @Option(
        help: ArgumentHelp(
            "/readyz reports less free disk space than this: 500MB (default: 1GB; 0B disables it).",
            valueName: "bytes"
        )
    )
    var readyFree: ByteCountArgument?

    /// - Parameter keys: The server's signing keys.
    func check(_ folder: ServerFolder, _ keys: RefreshOptions.Keys) -> ReadinessCheck {
        ReadinessCheck(folder, within: readyWithin, free: readyFree, opens: keys.opens)
    }
}

extension ReadinessCheck {
    init(
        _ folder: ServerFolder,
        within: DurationArgument?,
        free: ByteCountArgument?,
        opens: @escaping @Sendable (_ file: [UInt8], _ path: FilePath) -> Bool = { _, _ in true }
    ) {
        self.init(
            folder,
            files: DiskFiles(),
            within: within?.duration ?? Readiness.within,
            enough: Readiness.enough(free: free?.bytes),
            space: { try? DiskSpace(at: folder.root) },
            now: ProcessEnvironment.now,
            opens: opens
        )
    }
}

extension Readiness {
    /// The default time before its expiry at which a role is reported.
    ///
    /// The most frequently signed role is valid for 30 days.
    static let within = Duration.days(7)

    /// The free space required by default: room for a release of 10,000 files.
    static func enough(free: Int?) -> DiskSpace {
        let free = free ?? 1_000_000_000
        return DiskSpace(freeBytes: free, freeFiles: free == 0 ? 0 : 10_000)
    }
}
