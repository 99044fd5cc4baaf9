package import PatchFetch

/// Why rules and a file cannot be used for a proxy.
package enum ProxySettingsFault: Error, Equatable, Sendable {
    case tooManyRules
    /// The authorities are not valid for TLS.
    case authorities(TLSFault)
}

extension ProxySettingsFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooManyRules: "there are more than \(ProxyRules.maxRules) proxy rules"
        case .authorities(let fault): fault.description
        }
    }
}

extension APIProxy.Settings {
    /// Joins a device's own settings with those of a file.
    ///
    /// The file's rules are last, and the device's own values replace the file's.
    ///
    /// - Parameter authorities: The trusted certificates in PEM.
    /// - Returns: Nil if there is no rule.
    package static func joining(
        _ rules: [ProxyRule],
        before file: ProxyFile?,
        authorities: [UInt8]? = nil,
        timeoutSeconds: Int? = nil
    ) throws(ProxySettingsFault) -> Self? {
        let all = rules + (file?.rules ?? [])
        guard !all.isEmpty else { return nil }
        guard all.count <= ProxyRules.maxRules else { throw .tooManyRules }
        let trust: TLSTrust
        do throws(TLSFault) {
            trust = try TLSTrust(authorities: authorities ?? file?.authorities.map { Array($0.utf8) })
        } catch { throw .authorities(error) }
        var settings = Self(rules: ProxyRules(all), trust: trust)
        if let seconds = timeoutSeconds ?? file?.timeoutSeconds { settings.timeout = .seconds(seconds) }
        return settings
    }
}
