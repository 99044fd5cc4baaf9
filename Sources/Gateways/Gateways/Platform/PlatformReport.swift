package import PatchFormat

/// A report that a client of JSPatch's platform posts to `succ.php` or `err.php`.
///
/// It is not authenticated.
package struct PlatformReport: Equatable, Sendable {
    package let app: PlatformAppKey
    package let device: PlatformDeviceID
    package let statistic: PlatformStatistic

    package enum Page: String, CaseIterable, Sendable {
        case succeeded = "succ.php"
        case failed = "err.php"
    }

    package static let acknowledgement = JSON.fields([("succ", .integer(1))]).canonicalBytes
    private static let document = "form"

    /// Reads `k=KEY&av=2.1&pv=3&d=DEVICE`, with `&code=5003` for a failure.
    ///
    /// Each field occurs once, and others are rejected.
    package init(_ page: Page, form bytes: [UInt8]) throws(FormatError) {
        var fields: [String: String] = [:]
        let known = ["k", "av", "pv", "d"] + (page == .failed ? ["code"] : [])
        for pair in bytes.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = Self.text(parts[0]), let value = Self.text(parts[1]) else {
                throw FormatError(Self.document, rule: "must be name=value joined by &, percent-encoded UTF-8")
            }
            guard known.contains(name) else {
                throw FormatError(Self.document, field: name, rule: "is not known on \(page.rawValue)")
            }
            guard fields.updateValue(value, forKey: name) == nil else {
                throw FormatError(Self.document, field: name, rule: "occurs twice")
            }
        }
        func parsed<Value>(_ name: String, _ rule: String, _ read: (String) -> Value?) throws(FormatError) -> Value {
            guard let text = fields[name] else { throw FormatError(Self.document, field: name, rule: "is missing") }
            guard let value = read(text) else { throw FormatError(Self.document, field: name, rule: rule) }
            return value
        }
        app = try parsed("k", PlatformAppKey.rule) { PlatformAppKey($0) }
        let appVersion = try parsed("av", AppVersion.rule) { AppVersion($0) }
        let version = try parsed("pv", LoaderVersion.rule) { LoaderVersion($0) }
        device = try parsed("d", PlatformDeviceID.rule) { PlatformDeviceID($0) }
        let outcome: PlatformStatistic.Outcome
        switch page {
        case .succeeded: outcome = .succeeded
        case .failed: outcome = .failed(try parsed("code", PlatformError.Code.rule) { PlatformError.Code(text: $0) })
        }
        statistic = PlatformStatistic(LoaderPlace(appVersion, version), outcome)
    }

    /// Decodes a form value, in which a plus is a space.
    ///
    /// Nil if it is not percent-encoded UTF-8.
    private static func text(_ part: ArraySlice<UInt8>) -> String? {
        PercentEncoding.decoded(part.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 })
            .flatMap { String(validating: $0, as: UTF8.self) }
    }
}

extension PlatformError.Code {
    static let rule = "must be an integer from \(range.lowerBound) to \(range.upperBound)"

    init?(text: String) {
        guard text.utf8.count == 4, let code = PlatformError.Code.allCases.first(where: { "\($0.rawValue)" == text })
        else { return nil }
        self = code
    }
}
