package import PatchFormat

/// The report of a failed script patch by the program that ran it, or by a page: `POST /__patchline/script-failed`.
///
/// ```
/// { "page": "…", "patchId": "fix-cart-total", "version": "3", "fault": "threw", "message": "…", "line": 2, "column": 9 }
/// ```
package struct ScriptFailure: Equatable, Sendable {
    package enum Fault: String, Sendable {
        /// The script's own file threw an error that was not caught.
        case threw
        /// The browser did not receive the script, or rejected its bytes. The script itself may be correct.
        case unloaded
    }

    /// The trial that the page belongs to, or nil for a page of a confirmed version.
    package private(set) var launch: String?
    /// Whether the app's own program ran the script and reports the failure.
    package var isInProgram = false
    package let patchID: PatchID
    package let version: VersionLabel
    package let fault: Fault
    /// The error on one line, in the browser's words.
    package let message: String
    /// The line, from 1; 0 if unknown.
    package let line: Int
    package let column: Int

    package var label: Label { Label(patchID: patchID, version: version) }

    /// The largest report, in bytes.
    static let limit = 4_096
    private static let longestMessage = 500

    package init(
        launch: String?,
        patchID: PatchID,
        version: VersionLabel,
        fault: Fault,
        message: String,
        line: Int,
        column: Int
    ) {
        (self.launch, self.patchID, self.version, self.fault) = (launch, patchID, version, fault)
        (self.line, self.column) = (line, column)
        self.message = Self.shortened(message)
    }

    /// Returns the text on one line, shortened.
    private static func shortened(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix(longestMessage).map {
                    $0.properties.generalCategory == .control ? " " : $0
                }
            )
        )
    }

    /// Returns the same failure for a page of this launch.
    func inLaunch(_ launch: String?) -> ScriptFailure {
        var failure = self
        failure.launch = launch
        return failure
    }

    /// - Parameter fields: The report's members. ``launch`` is not read: it follows from the page that reports the failure.
    package init(reported fields: Fields) throws(FormatError) {
        try fields.allow(["page", "launch", "patchId", "version", "fault", "message", "line", "column"])
        launch = nil
        patchID = try fields.name("patchId")
        version = try fields.name("version")
        guard let fault = Fault(rawValue: try fields.string("fault")) else {
            throw fields.broken("fault", "must be threw or unloaded")
        }
        self.fault = fault
        message = Self.shortened(try fields.string("message"))
        line = try fields.integer("line", in: 0...(1 << 31 - 1))
        column = try fields.integer("column", in: 0...(1 << 31 - 1))
    }
}

extension ScriptFailure {
    package var json: JSON { .fields(members) }

    package var members: [(String, JSON?)] {
        [("patchId", .text(patchID.text)), ("version", .text(version.text))] + details
    }

    /// The members without the version.
    package var details: [(String, JSON?)] {
        [
            ("fault", .text(fault.rawValue)), ("message", .text(message)), ("line", .integer(line)),
            ("column", .integer(column)),
        ]
    }
}

extension ScriptFailure: CustomStringConvertible {
    package var description: String {
        let place = line > 0 ? " (line \(line), column \(column))" : ""
        return switch fault {
        case .threw: "\(label) failed\(isInProgram ? "" : " in a page"): \(message)\(place)"
        case .unloaded: "\(label) was not loaded by a page"
        }
    }
}

/// The outcome of such a report.
package enum ScriptFailureOutcome: Equatable, Sendable {
    /// The failure was reported to the app.
    case told
    /// The failure was reported, and ended the trial that the script belongs to.
    case rolledBack
    /// The report is ignored: no such script runs in the page, or the page belongs to another launch.
    case unknown
    /// The device could not write its state.
    case failed
}
