/// The results of checking a server's or a device's machine, line by line.
package struct Diagnosis: Equatable, Sendable {
    /// The verdicts from good to bad.
    package enum Verdict: String, CaseIterable, Comparable, Sendable {
        case ok
        /// It works now but needs action later.
        case warning
        /// It does not work, or is not safe.
        case fault

        package static func < (left: Verdict, right: Verdict) -> Bool {
            allCases.firstIndex(of: left) ?? 0 < allCases.firstIndex(of: right) ?? 0
        }
    }

    package struct Line: Equatable, Sendable {
        /// The subject of the check: `disk`, `clock`, `com.example.storefront online key`.
        package let subject: String
        /// An identifier for programs, if the finding has one.
        ///
        /// It is the same in every version.
        package let code: String?
        package let verdict: Verdict
        package let finding: String
        /// How to fix the problem.
        package let hint: String?

        package init(_ subject: String, code: String? = nil, _ verdict: Verdict, _ finding: String, hint: String? = nil)
        {
            self.subject = subject
            self.code = code
            self.verdict = verdict
            self.finding = finding
            self.hint = hint
        }
    }

    package private(set) var lines: [Line] = []

    package init() {}

    package mutating func add(_ line: Line) { lines.append(line) }

    /// The worst verdict of all lines.
    package var verdict: Verdict { lines.map(\.verdict).max() ?? .ok }

    package var json: JSON {
        .fields([
            ("verdict", .text(verdict.rawValue)),
            (
                "lines",
                .array(
                    lines.map {
                        .fields([
                            ("subject", .text($0.subject)), ("code", $0.code.map { .text($0) }),
                            ("verdict", .text($0.verdict.rawValue)),
                            ("finding", .text($0.finding)), ("hint", $0.hint.map { .text($0) }),
                        ])
                    }
                )
            ),
        ])
    }
}
