package import PatchFetch

/// Why rules and a file make no proxy.
package enum ProxySettingsFault: Error, Equatable, Sendable {
    case tooManyRules
    /// Nobody can be trusted by these authorities.
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
    /// What a device is told of its proxy, one by one and by a file: the file's rules come last, and what is told beside it counts in
    /// place of what it says.
    ///
    /// - Parameter authorities: in PEM.
    /// - Returns: nil without a rule.
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
