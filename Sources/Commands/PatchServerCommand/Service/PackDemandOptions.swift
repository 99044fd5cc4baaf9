import PatchFormat
import ArgumentParser
import CommandKit
import PatchServer
import ReleaseService

/// The options for packs that a running server makes at the request of devices.
struct PackDemandOptions: ParsableArguments {
    private static let standard = 1_000_000_000

    @Option(
        help: ArgumentHelp(
            "Maximum size of an app's packs while packs are made on request of devices; 0B for none "
                + "(default: 1GB).",
            valueName: "bytes"
        )
    )
    var packRoom: ByteCountArgument?

    /// Nil if this is switched off.
    func service(_ operations: ReleaseOperations?, _ log: ServerLog) -> PackDemand? {
        let room = packRoom?.bytes ?? Self.standard
        guard let operations, room > 0 else { return nil }
        return PackDemand(operations, room: room) { app, _, result in
            guard case .failure(let error) = result else { return }
            log.say(.warning, Self.notMade(error), app: app)
        }
    }

    static func notMade(_ error: any Error) -> String {
        printable("no pack was made for a device: \(Failure(of: error)?.message ?? "\(error)")")
    }
}
