import ArgumentParser
import CommandKit
import HTTPCore
import HTTPFiles
import PatchFormat

/// The options of the operators' port, separate from the devices' port.
struct OperatorOptions: ParsableArguments {
    /// Sufficient for operators and pipelines.
    ///
    /// Devices have their own listener.
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
    /// If any free port is used for devices, as for a second server on this machine, any free one is also used for operators.
    func port(besideDevices devices: Int) -> Int {
        operatorsPort ?? (devices == 0 ? 0 : Self.standardPort)
    }

    /// - Throws: If both ports would be the same. The system would only report that the port is in use.
    static func check(
        _ operators: (host: String, port: Int),
        beside devices: (host: String, port: Int)
    ) throws(ValidationError) {
        let (port, hosts) = (devices.port, [devices.host, operators.host])
        let overlap = hosts[0] == hosts[1] || hosts.contains("0.0.0.0") || hosts.contains("::")
        guard port != 0, port == operators.port, overlap else { return }
        throw ValidationError("--port and --operators-port are both \(port): devices and operators have a port each")
    }

    /// - Parameter devices: The configuration of the devices' listener. Connections are shared out in the same way.
    /// - Throws: If tokens would be sent without encryption.
    func configuration(beside devices: FileServerConfiguration) throws(Failure) -> FileServerConfiguration {
        let fault = Self.exposure(at: operatorsHost, hasTLS: devices.tls != nil, operatorsInsecureHttp)
        if let fault { throw fault }
        var configuration = devices
        (configuration.host, configuration.port) = (operatorsHost, port(besideDevices: devices.port))
        configuration.maxConnections = min(Self.connections, devices.maxConnections)
        // All users of this machine share the loopback address, so with limits by address one of them could lock out the others.
        // Behind a proxy, its header names the client.
        if Self.isLoopback(operatorsHost), devices.sharing == .byAddress(trustedProxies: .none) {
            configuration.sharing = .byUser(strangers: nil)
        }
        return configuration
    }

    /// The failure if tokens would be sent without encryption.
    ///
    /// Nil if they are not, or if that was allowed.
    static func exposure(at host: String, hasTLS: Bool, _ insecureHttp: OnOff) -> Failure? {
        if hasTLS || isLoopback(host) || insecureHttp == .on { return nil }
        return Failure(
            "operators would connect to \(host) without TLS, so the network could read their tokens",
            hint: "name a certificate with --tls-certificate and --tls-key, or set --operators-insecure-http on "
                + "in a network that you trust",
            code: .refused
        )
    }

    private static func isLoopback(_ host: String) -> Bool {
        let host = host.contains(":") ? "[\(host)]" : host
        return ServerURL("http://\(host)")?.isLoopback ?? false
    }
}

/// A switch that a settings file can also set.
enum OnOff: String, ExpressibleByArgument, CaseIterable {
    case on, off
}
