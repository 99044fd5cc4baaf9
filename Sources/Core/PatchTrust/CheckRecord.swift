package import PatchFormat

/// One verification check: its subject, its rule, its key and its result.
///
/// The verification itself records these for its observer; there is no second verification.
package struct CheckRecord: Hashable, Sendable {
    /// The rule: a stable name, with a sentence that a reviewer can look up.
    package enum Rule: String, Sendable, CaseIterable {
        case rootSignature = "TUF 5.2: the trusted root is signed by a threshold of its own keys"
        case roleSignature = "TUF 5.6.3: a role is signed by a threshold of its delegator's keys"
        case threshold = "TUF 4.2.1: as many distinct keys as the threshold asks for"
        case nextVersion = "Formats: a release's role is one version above its base"
        case delegatedPath = "TUF 4.5: a role names only targets whose paths were delegated to it"
        case targetBytes = "TUF 5.7.2: a target has the length and the digest that its role names"
        case addressee = "Formats: a list or manifest is for this app, channel, patch and version"
        case entrySignature = "Formats: an entry key signed the list entry's statement"
        case assetSignature = "Formats: an entry key signed the asset's statement"
        case fingerprint = "Formats: the bytes have the entry's size, MD5, SHA-1 and SHA-256"

        /// Whether the rule applies to each entry or file, so that there may be thousands of records.
        package var isOfEachFile: Bool {
            switch self {
            case .entrySignature, .assetSignature, .fingerprint, .targetBytes, .delegatedPath: true
            case .rootSignature, .roleSignature, .threshold, .nextVersion, .addressee: false
            }
        }
    }

    package let rule: Rule
    /// The document or file, such as `production 2` or `web 1.0.0 app/main.js`.
    package let subject: String
    /// The id of the signing key, if the check has one.
    package let key: SHA256Digest?
    /// The fault, or nil if the check succeeded.
    package let fault: String?

    package init(_ rule: Rule, of subject: String, key: SHA256Digest? = nil, fault: String? = nil) {
        self.rule = rule
        self.subject = subject
        self.key = key
        self.fault = fault
    }

    package var holds: Bool { fault == nil }

    /// The record as JSON for scripts.
    package var json: JSON {
        .fields([
            ("check", .text("\(rule)")), ("subject", .text(subject)), ("rule", .text(rule.rawValue)),
            ("key", key.map { .text($0.hex) }), ("result", .text(fault ?? "holds")),
        ])
    }
}

/// Receives each check as it is made; if it is nil, no record is made.
package typealias CheckObserver = (CheckRecord) -> Void

extension RoleKeys {
    /// Returns how many distinct keys signed.
    ///
    /// Records each of them, and their number.
    package func validSignatures(
        on envelope: Envelope,
        role: String,
        rule: CheckRecord.Rule,
        observe: CheckObserver?
    ) -> Int {
        let signers = validSigners(on: envelope)
        for id in signers { observe?(CheckRecord(rule, of: role, key: id)) }
        let isEnough = signers.count >= threshold
        let count = "\(role), \(signers.count) of \(threshold)"
        observe?(CheckRecord(.threshold, of: count, fault: isEnough ? nil : "signatures are missing"))
        return signers.count
    }

    /// ``check(_:role:)``, with records.
    package func check(
        _ envelope: Envelope,
        role: String,
        rule: CheckRecord.Rule,
        observe: CheckObserver?
    ) throws(TrustError) {
        let valid = validSignatures(on: envelope, role: role, rule: rule, observe: observe)
        guard valid >= threshold else { throw .threshold(role: role, valid: valid, needed: threshold) }
    }
}
