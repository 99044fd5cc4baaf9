package import PatchFormat
import PatchTrust

/// Dial, snapshot and timestamp that an exported tree alone has: they hold as long as somebody asked, not seven days.
///
/// They say what the served ones say. Their numbers follow the served ones and are given away for good, before anything
/// is signed: the server's next ones are higher, so a device that saw the exported tree goes on with the server, and one
/// number never has two contents. Until the server signs its next ones, such a device takes it for a mirror that lags.
package struct OwnRoles: Sendable {
    let plan: PublicationPlan
    let state: PublishedState
    let versions: FreshRoles.Versions
    package let expires: UTCTime

    /// What the audit log says of them.
    package var json: JSON {
        .fields([
            ("timestamp", .integer(versions.timestamp)), ("snapshot", .integer(versions.snapshot)),
            ("dial", .integer(versions.dial)), ("expires", .text(expires.description)),
        ])
    }
}
