package import PatchCrypto

/// The name under which the pages of an app are served on this device alone: `LABEL.localhost`, which browsers resolve to
/// loopback by themselves (RFC 6761 §6.3).
///
/// A secret of the store: a host's cookies go to each of its ports, so that whoever knew the name could lead a browser to
/// a port of theirs under it.
package struct HostLabel: RandomText {
    package let text: String

    package init(_ digits: RandomDigits) {
        text = digits.text
    }

    /// What stands in a URL and in `Host`, without the port.
    package var host: String { "\(text).localhost" }
}
