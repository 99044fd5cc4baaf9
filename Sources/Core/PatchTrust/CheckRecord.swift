package import PatchFormat

/// One check that was made while something was verified: of what, under which rule, with which key, and how it ended.
///
/// Verifying itself writes these down for whoever asks; there is no second verification.
package struct CheckRecord: Hashable, Sendable {
    /// The rule, by a name that stays, with the sentence that a reviewer looks up.
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

        /// Whether there is one for each entry or file, so that there may be thousands.
        package var isOfEachFile: Bool {
            switch self {
            case .entrySignature, .assetSignature, .fingerprint, .targetBytes, .delegatedPath: true
            case .rootSignature, .roleSignature, .threshold, .nextVersion, .addressee: false
            }
        }
    }

    package let rule: Rule
    /// `production 2`, `web 1.0.0 app/main.js`.
    package let subject: String
    /// The id of the key that signed, where one did.
    package let key: SHA256Digest?
    /// What is wrong; nil when the check holds.
    package let fault: String?

    package init(_ rule: Rule, of subject: String, key: SHA256Digest? = nil, fault: String? = nil) {
        self.rule = rule
        self.subject = subject
        self.key = key
        self.fault = fault
    }

    package var holds: Bool { fault == nil }

    /// For scripts.
    package var json: JSON {
        .fields([
            ("check", .text("\(rule)")), ("subject", .text(subject)), ("rule", .text(rule.rawValue)),
            ("key", key.map { .text($0.hex) }), ("result", .text(fault ?? "holds")),
        ])
    }
}

/// Told of each check as it is made; nil where nobody asks, and then no record is made.
package typealias CheckObserver = (CheckRecord) -> Void

extension RoleKeys {
    /// How many distinct keys signed, with a record for each and one for their count.
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
