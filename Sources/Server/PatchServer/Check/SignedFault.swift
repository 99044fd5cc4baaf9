import PatchFormat

/// What is wrong with what somebody signed.
enum SignedFault {
    static func noTarget(_ name: ExactString) -> String { "\(name) is no target of a channel" }
    static func length(_ found: Int, signed: Int) -> String { "it has \(found) bytes; the role says \(signed)" }
    static func unlisted(_ role: String) -> String { "it does not list \(role)" }
}
