import ArgumentParser
import CommandKit
import HTTPFiles
import PatchFormat

/// Where operators and pipelines ask: beside the port that devices know.
struct OperatorOptions: ParsableArguments {
    /// Nobody needs more at a time; devices have a listener of their own.
    private static let connections = 128
    static let standardPort = 8081

    @Option(
        help: ArgumentHelp(
            "Address for operators: /api/v1, /healthz, /readyz and /metrics.",
            valueName: "address"
        )
    )
    var operatorsHost = "127.0.0.1"

    @Option(
        help: ArgumentHelp(
            "Port for operators; 0 takes any free one (default: \(standardPort), or any free one with --port 0).",
            valueName: "port"
        )
    )
    var operatorsPort: Int?

    @Option(
        help: ArgumentHelp(
            "Accept operators of other machines without TLS, tokens included: on or off.",
            valueName: "on|off"
        )
    )
    var operatorsInsecureHttp = OnOff.off

    func validate() throws {
        guard (0...65_535).contains(operatorsPort ?? 0) else {
            throw ValidationError("--operators-port must be from 0 to 65535")
        }
    }

    /// The operators' port.
    ///
    /// A second server on this machine, which takes any port for devices, takes any for operators, too.
    func port(besideDevices devices: Int) -> Int {
        operatorsPort ?? (devices == 0 ? 0 : Self.standardPort)
    }

    /// - Throws: where both are one place, of which the system would only say that it is taken.
    static func check(
        _ operators: (host: String, port: Int),
        beside devices: (host: String, port: Int)
    ) throws(ValidationError) {
        let (port, hosts) = (devices.port, [devices.host, operators.host])
        let overlap = hosts[0] == hosts[1] || hosts.contains("0.0.0.0") || hosts.contains("::")
        guard port != 0, port == operators.port, overlap else { return }
        throw ValidationError("--port and --operators-port are both \(port): devices and operators have a port each")
    }

    /// - Parameter devices: what holds for the listener of devices, which shares out its connections alike.
    /// - Throws: where tokens would travel for everybody to read.
    func configuration(beside devices: FileServerConfiguration) throws(Failure) -> FileServerConfiguration {
        let fault = Self.exposure(at: operatorsHost, hasTLS: devices.tls != nil, operatorsInsecureHttp)
        if let fault { throw fault }
        var configuration = devices
        (configuration.host, configuration.port) = (operatorsHost, port(besideDevices: devices.port))
        configuration.maxConnections = min(Self.connections, devices.maxConnections)
        // On loopback all users of this machine have one address: shared out by it, one of them could keep all others out.
        // Behind a proxy its word says who asks.
        if Self.isLoopback(operatorsHost), devices.sharing == .byAddress(trustedProxies: .none) {
            configuration.sharing = .byUser(strangers: nil)
        }
        return configuration
    }

    /// Why tokens would travel for everybody to read; nil where they do not, or where that was allowed.
    static func exposure(at host: String, hasTLS: Bool, _ insecureHttp: OnOff) -> Failure? {
        if hasTLS || isLoopback(host) || insecureHttp == .on { return nil }
        return Failure(
            "operators would ask at \(host) without TLS, so anybody on the way could read their tokens",
            hint: "name a certificate with --tls-certificate and --tls-key, or say --operators-insecure-http on "
                + "where nobody listens",
            code: .refused
        )
    }

    private static func isLoopback(_ host: String) -> Bool {
        let host = host.contains(":") ? "[\(host)]" : host
        return ServerURL("http://\(host)")?.isLoopback ?? false
    }
}

/// A switch that a settings file can set, too.
enum OnOff: String, ExpressibleByArgument, CaseIterable {
    case on, off
}
