package import PatchFormat
import PatchCrypto

/// The identity of a stored page: the page and the account.
///
/// As in VasSonic, it is the MD5 of `ACCOUNT_scheme://host/path` and of the query parameters whose names begin with `sonic_` or are
/// listed in `sonic_remain_params`. Other parameters do not distinguish pages.
package struct PageSession: Hashable, Sendable {
    package let id: MD5Digest

    /// - Parameters:
    ///   - origin: The origin: `https://shop.example`.
    ///   - path: The path as sent in the request, with its leading slash.
    ///   - query: The query as sent, without its question mark.
    ///   - account: The account, or nil without one.
    ///   - parameters: The names of further parameters that distinguish pages.
    package init(
        origin: String,
        path: String,
        query: String?,
        account: String?,
        counting parameters: Set<String> = []
    ) {
        let pairs = (query ?? "").split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
        }
        let remaining = pairs.first { $0.name == Self.remaining }?.value.split(separator: ";").map(String.init) ?? []
        let names = parameters.union(remaining)
        let counted = pairs.filter {
            $0.name != Self.remaining && ($0.name.hasPrefix("sonic_") || names.contains($0.name))
        }
        .sorted { ($0.name, $0.value) < ($1.name, $1.value) }
        let text =
            (account.map { "\($0)_" } ?? "") + origin + path
            + (counted.isEmpty ? "" : "?" + counted.map { "\($0.name)=\($0.value)&" }.joined())
        id = Fingerprint(of: Array(text.utf8)).md5
    }

    private static let remaining = "sonic_remain_params"
}
