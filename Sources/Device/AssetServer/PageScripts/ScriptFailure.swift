package import PatchFormat

/// What is said of a script patch that failed, by the program that ran it, or by a page: `POST /__patchline/script-failed`.
///
/// ```
/// { "page": "…", "patchId": "fix-cart-total", "version": "3", "fault": "threw", "message": "…", "line": 2, "column": 9 }
/// ```
package struct ScriptFailure: Equatable, Sendable {
    package enum Fault: String, Sendable {
        /// In its own file, and nobody caught it.
        case threw
        /// The browser did not get it, or refused its bytes: that says nothing of the script.
        case unloaded
    }

    /// The trial that the page speaks for; nil for a page of what is confirmed.
    package private(set) var launch: String?
    /// Whether the app's own program says so, which ran it.
    package var isInProgram = false
    package let patchID: PatchID
    package let version: VersionLabel
    package let fault: Fault
    /// On one line, as the browser words it.
    package let message: String
    /// From 1; 0 where nobody knows.
    package let line: Int
    package let column: Int

    package var label: Label { Label(patchID: patchID, version: version) }

    /// Bytes of a whole report.
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

    /// On one line.
    private static func shortened(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.prefix(longestMessage).map {
                    $0.properties.generalCategory == .control ? " " : $0
                }
            )
        )
    }

    /// The same failure, of a page of this launch.
    func inLaunch(_ launch: String?) -> ScriptFailure {
        var failure = self
        failure.launch = launch
        return failure
    }

    /// - Parameter fields: ``launch`` is not read: it follows from the page that reports the failure.
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

/// What became of such a report.
package enum ScriptFailureOutcome: Equatable, Sendable {
    /// Told to whoever looks after the app.
    case told
    /// And the trial of which the script is a part has failed.
    case rolledBack
    /// It counts for nothing: no such script runs in the page, or the page belongs to another launch.
    case unknown
    /// The device could not write its state.
    case failed
}
