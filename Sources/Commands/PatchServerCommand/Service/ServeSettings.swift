import PatchFormat
import ArgumentParser
import CommandKit
import PatchServer

/// All settings of `patchsrv serve`, from the command line, the environment and a file.
enum ServeSettings {
    static let all: [Setting] = [
        Setting("data", alternative: "place"),
        Setting("host", standard: "127.0.0.1"),
        port("port", standard: "8080"),
        Setting("operators-host", standard: "127.0.0.1"),
        port("operators-port", standard: "8081"),
        Setting("operators-insecure-http", standard: "off", rule: "must be on or off") { OnOff(rawValue: $0) != nil },
        Setting("api", standard: "on", rule: "must be on or off") { OnOff(rawValue: $0) != nil },
        Setting("trusted-proxy", rule: ProxyAddresses.rule) { ProxyAddresses(argument: $0) != nil },
        Setting("connections", standard: "1024", rule: connectionsRule) { Int($0).map(connections.contains) ?? false },
        Setting("least-rate", standard: "2kB", rule: leastRateRule) {
            ByteCountArgument(argument: $0).map { leastRate.contains($0.bytes) } ?? false
        },
        Setting("pack-bases", standard: "3", rule: PackOptions.basesRule) {
            Int($0).map(PackOptions.bases.contains) ?? false
        },
        Setting("pack-room", standard: "1GB", rule: ByteCountArgument.rule) { ByteCountArgument(argument: $0) != nil },
        Setting("background-optimize", standard: "on", rule: "must be on or off") { OnOff(rawValue: $0) != nil },
        Setting("access-log"),
        Setting("log-format", standard: "text", rule: "must be text or json") { LogFormat(rawValue: $0) != nil },
        Setting("ready-within", standard: "7d", rule: timeRule) { DurationArgument(argument: $0) != nil },
        Setting("ready-free", standard: "1GB", rule: ByteCountArgument.rule) { ByteCountArgument(argument: $0) != nil },
        Setting("stop-within", standard: "10s", rule: timeRule) { DurationArgument(argument: $0) != nil },
        Setting("tls-certificate"),
        Setting("tls-key"),
        Setting("tls-passphrase-file"),
        Setting("refresh-every", standard: "6h", rule: "\(timeRule), or off") { RefreshInterval(argument: $0) != nil },
        Setting("passphrase-file", alternative: "passphrase"),
        Setting("passphrase-env", alternative: "passphrase"),
    ]

    static let connections = 16...100_000
    static let connectionsRule = "must be from 16 to 100000"
    static let leastRate = 1...1_000_000_000
    static let leastRateRule = "must be a number of bytes such as 2kB or 500B, from 1B to 1GB"

    static let timeRule = "must be a length of time such as 30d, 6h, 15m or 10s"

    static func port(_ name: String, standard: String? = nil) -> Setting {
        Setting(name, standard: standard, rule: "must be from 0 to 65535") {
            Int($0).map((0...65_535).contains) ?? false
        }
    }
}

extension Failure {
    init(_ error: SettingsError) {
        switch error {
        case .unknownKey(_, _, _, let nearest):
            self.init(
                "\(error)",
                hint: nearest.map { "did you mean \($0)?" }
                    ?? "the keys are the options of patchsrv serve and patchsrv pages, and server, token-file and ca",
                code: .malformed
            )
        case .notSettings, .badValue(.file, _, _): self.init("\(error)", code: .malformed)
        case .badValue: self.init("\(error)", code: .usage)
        }
    }
}

extension LogFormat: ExpressibleByArgument {}
