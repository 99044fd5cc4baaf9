import APIProxy
import HTTPCore
import HTTPFiles
import PatchFormat
package import SystemPackage

extension StoreSettings {
    /// Sets a value.
    ///
    /// ``StoreSetting/store``, `server`, `root` and `channel` depend on each other, so ``DaemonSettings`` reads them.
    ///
    /// - Parameter path: Returns the absolute path for a given path.
    package mutating func take(
        _ value: SettingValue,
        for setting: StoreSetting,
        path: (String) -> FilePath = { FilePath($0) }
    ) throws(SettingFault) {
        let (text, isOn) = (value.text, value == .flag(true))
        switch setting {
        case .store, .server, .root, .channel: break
        case .serve: serves = isOn
        case .syncEvery: syncEvery = value.time
        case .noSync: syncs = !isOn
        case .parametersEvery: parametersPolling = value.time.map { $0 == .zero ? .never : .every($0) } ?? .never
        case .deadline: deadline = value.time
        case .stallTimeout: stallTimeout = value.time
        case .retries: retries = value.number
        case .port: port = value.number
        case .bundle: bundle = try parsed(text, setting) { PatchID($0) }
        case .appBuild: appBuild = try parsed(text, setting) { AppBuild($0) }
        case .startupTimeout: startupTimeout = value.time ?? startupTimeout
        case .startupTimer: countsLaunch = text == "launch"
        case .urlFile: urlFile = text.map(path)
        case .printURL: printsURL = isOn
        case .www: www = text.map(path)
        case .localFiles: localFiles = text.map(path)
        case .uploads: uploads = text.map(path)
        case .open: isOpen = isOn
        case .origin: origins = try value.items(setting) { Self.isOrigin($0) ? $0 : nil }
        case .header: headers = try value.items(setting) { Header($0) }
        case .charset:
            charset = try parsed(text, setting) { $0.utf8.allSatisfy(\.isTokenCharacter) ? $0 : nil }
        case .type: types = Dictionary(try value.items(setting, Self.type)) { $1 }
        case .dialect: dialect = text == "gcdwebserver" ? .gcdWebServer(name: "GCDWebServer") : .rfc9110
        case .proxy:
            proxy = value.items
            for rule in proxy {
                do throws(ProxyRuleError) { _ = try ProxyRule(argument: rule) } catch {
                    throw SettingFault("\(error)", item: rule)
                }
            }
        case .proxies: proxies = text.map(path)
        case .proxyCA: proxyCA = text.map(path)
        case .proxyTimeout: proxyTimeout = value.time
        }
    }

    private func parsed<Value>(
        _ text: String?,
        _ setting: StoreSetting,
        _ parse: (String) -> Value?
    ) throws(SettingFault) -> Value? {
        guard let text else { return nil }
        guard let value = parse(text) else { throw SettingFault(setting.rule) }
        return value
    }

    private static func isOrigin(_ text: String) -> Bool {
        guard let scheme = ["http://", "https://"].first(where: { text.hasPrefix($0) }) else { return false }
        let host = text.dropFirst(scheme.count)
        return !host.isEmpty && host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/?#@\\,".utf8.contains($0) }
    }

    private static func type(_ text: String) -> (String, String)? {
        let parts = text.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, parts[1].contains("/"), parts[1].utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
            return nil
        }
        return (parts[0].lowercased(), String(parts[1]))
    }
}

extension StoreSettings.Header {
    /// - Parameter text: `Name: value`. `Name:` removes the field.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, parts[0].utf8.allSatisfy(\.isTokenCharacter) else {
            return nil
        }
        let value = parts[1].drop { $0 == " " }
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else { return nil }
        self.init(name: String(parts[0]), value: value.isEmpty ? nil : String(value))
    }
}

extension SettingValue {
    var text: String? { if case .text(let text) = self { text } else { nil } }
    var number: Int? { if case .number(let number) = self { number } else { nil } }
    var time: Duration? { if case .time(let time) = self { time } else { nil } }
    var items: [String] { if case .list(let items) = self { items } else { [] } }

    func items<Value>(_ setting: some Setting, _ parse: (String) -> Value?) throws(SettingFault) -> [Value] {
        var values: [Value] = []
        for item in items {
            guard let value = parse(item) else { throw SettingFault(setting.rule, item: item) }
            values.append(value)
        }
        return values
    }
}
