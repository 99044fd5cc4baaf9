import HTTPFiles
import NIOHTTP1
import PatchFormat

/// The response headers that a bundle sets for one of its files.
struct ReleaseFields: Equatable, Sendable {
    private(set) var contentType: String?
    private(set) var cacheControl: String?
    private(set) var others: HTTPHeaders = [:]

    /// - Parameter own: Lower-case names of the fields that the device's owner sets. The release's values for these are ignored.
    init(_ rules: [HeaderRule], for path: String, except own: Set<String>) {
        for rule in rules where rule.pattern.matches(path) {
            for field in rule.fields where !own.contains(field.name.lowercased()) {
                switch field.name {
                case "Content-Type": contentType = field.value
                case "Cache-Control": cacheControl = field.value
                case "Content-Security-Policy":
                    others.replaceOrAdd(name: field.name, value: Self.withAncestors(field.value))
                default: others.replaceOrAdd(name: field.name, value: field.value)
                }
            }
        }
    }

    /// Returns the policy with the inline script of the release stamp, and with the device's own rule for frames unless it has one.
    private static func withAncestors(_ policy: String) -> String {
        let directives = policy.split(separator: ";").compactMap { $0.split(separator: " ").first?.lowercased() }
        let framed = directives.contains("frame-ancestors") ? policy : "\(policy); frame-ancestors 'self'"
        return ContentPolicy.allowing(StampScript.sha256, in: framed)
    }
}
