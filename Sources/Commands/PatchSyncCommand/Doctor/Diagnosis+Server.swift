import CommandKit
import DeviceOutput
import PatchFetch
import PatchFormat
import PatchSync
import PatchCrypto
import PatchTrust

/// The address families of a name or a machine.
struct AddressFamilies: Equatable, Sendable {
    var hasV4 = false
    var hasV6 = false

    var isEmpty: Bool { !hasV4 && !hasV6 }

    func shares(_ other: AddressFamilies) -> Bool { hasV4 && other.hasV4 || hasV6 && other.hasV6 }

    var words: String {
        switch (hasV4, hasV6) {
        case (true, true): "IPv4 and IPv6"
        case (true, false): "IPv4 alone"
        case (false, true): "IPv6 alone"
        case (false, false): "no address"
        }
    }
}

/// The name service's answer for a host.
enum NameAnswer: Equatable, Sendable {
    case addresses(AddressFamilies)
    case unknown
    /// There was no answer within the time limit.
    case late
}

/// The check of a server. It computes a verdict from facts.
extension Diagnosis.Line {
    /// - Parameters:
    ///   - machine: The address families from which this machine can reach others.
    ///   - answer: The server's delay, or the reason why a sync would reject its data.
    static func server(
        _ server: ServerURL,
        _ name: NameAnswer,
        machine: AddressFamilies,
        _ answer: Result<StaleMirror?, SyncError>
    ) -> Diagnosis.Line {
        let subject = "server \(server)"
        switch answer {
        case .success(nil):
            return Diagnosis.Line(subject, .ok, "it answers, and its metadata verifies")
        case .success(let behind?):
            return Diagnosis.Line(
                subject,
                .serverBehind,
                behind.isOverdue ? .fault : .warning,
                behind.description,
                hint: "a mirror catches up by itself; check it after a day"
            )
        case .failure(let error):
            let failure = Failure(error)
            if error.isConnectionFailure, let line = way(subject, server, name, machine) { return line }
            return Diagnosis.Line(subject, error.code, .fault, failure.message, hint: failure.hint)
        }
    }

    /// The reason why a server cannot be reached, if the name or the addresses show it.
    private static func way(
        _ subject: String,
        _ server: ServerURL,
        _ name: NameAnswer,
        _ machine: AddressFamilies
    ) -> Diagnosis.Line? {
        switch name {
        case .unknown:
            Diagnosis.Line(
                subject,
                .nameUnknown,
                .fault,
                "the name service has no address for \(server.host)",
                hint: "check the name, the network, and the name server in /etc/resolv.conf"
            )
        case .late:
            Diagnosis.Line(
                subject,
                .nameServiceSilent,
                .fault,
                "the name service does not answer",
                hint: "check /etc/resolv.conf and the connection to its name server"
            )
        case .addresses(let found) where !server.isLoopback && !machine.shares(found):
            Diagnosis.Line(
                subject,
                .noCommonFamily,
                .fault,
                "\(server.host) has \(found.words), and this machine \(machine.words)",
                hint: machine.isEmpty
                    ? "there is no network"
                    : "the server needs an address of the other kind, or the network NAT64 and DNS64"
            )
        case .addresses: nil
        }
    }
}

extension SyncError {
    /// Whether no connection was established.
    fileprivate var isConnectionFailure: Bool {
        switch self {
        case .fetch(.connection), .fetch(.noAddress), .fetch(.timedOut), .fetch(.syncDeadline): true
        default: false
        }
    }

    fileprivate var code: DoctorCode { DoctorCode(SyncFailureCode(self)) }
}

extension DoctorCode {
    /// Converts the code of a failed sync.
    ///
    /// The doctor has wider codes for some of them.
    init(_ failure: SyncFailureCode) {
        self =
            switch failure {
            case .storeDamaged: .stateDamaged
            case .diskFailed, .other: .serverFailed
            default: DoctorCode(rawValue: failure.rawValue) ?? .serverFailed
            }
    }
}
