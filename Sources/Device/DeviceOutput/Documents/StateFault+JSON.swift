package import PatchFormat
package import PatchSync
import SystemPackage

extension StateFault {
    package var members: [(String, JSON?)] {
        [
            ("file", .text(file.string)), ("error", .text(error.description)), ("standby", .text(standby.rawValue)),
        ]
    }
}
