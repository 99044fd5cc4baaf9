/// What happened to a patch, as the platforms of this field number it (feature J15).
package enum PatchEventType: Int, CaseIterable, Sendable {
    /// Of no patch: what else a person who looks after the device wants to know.
    case unknown = 0
    /// A script is part of what runs from now on.
    case runScript = 1
    /// A version is listed for this device that it does not have.
    case update = 2
    /// It is here and waits for its start; or a version is gone, as a list says.
    case updateDone = 3
    /// A condition was asked.
    case condition = 4
    /// A share was asked.
    case gray = 5
    /// A version did not come, or did not prove itself.
    case updateFail = 6
    /// Something is wrong with this device.
    case exception = 7
    /// A script failed while it ran: whoever runs it knows.
    case jsException = 8

    package var name: String {
        switch self {
        case .unknown: "Unknown"
        case .runScript: "RunScript"
        case .update: "Update"
        case .updateDone: "UpdateDone"
        case .condition: "Condition"
        case .gray: "Gray"
        case .updateFail: "UpdateFail"
        case .exception: "Exception"
        case .jsException: "JSException"
        }
    }
}
