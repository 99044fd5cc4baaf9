package import PatchChoice
package import PatchFormat
package import PatchSync

extension Explanation {
    /// The document of `patchsync explain --json`.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the device whose list is explained.
    ///   - failure: The last sync's failure.
    package func json(_ configuration: DeviceConfiguration, after failure: SyncFailure? = nil) -> JSON {
        ExplanationDocument.document.json(
            ExplanationDocument(explanation: self, configuration: configuration, failure: failure)
        )
    }
}

/// The values of `patchsync explain --json`.
package struct ExplanationDocument: Sendable {
    fileprivate let explanation: Explanation
    fileprivate let configuration: DeviceConfiguration
    fileprivate let failure: SyncFailure?

    package static let document = Document<ExplanationDocument>(
        "explain",
        title: "patchsync explain --json",
        "Why a device gets or does not get each listed version; one document. The page \"Why a device has what it has\" names every "
            + "code. Members and codes may be added."
    ) {
        Member("app", .text) { $0.configuration.app.text }
        Member("channel", .text) { $0.configuration.channel.text }
        Member("roleVersion", .integer(1...), "The release of the explained list.") { $0.explanation.roleVersion }
        Member("at", Shapes.time, "The time of the explanation.") { $0.explanation.time }
        Member(optional: "lastFailure", Shapes.syncFailure) { $0.failure }
        Member("versions", version.list, "Each listed version, or the requested ones, in list order.") {
            $0.explanation.versions.map(\.json)
        }
    }

    private static let code = Shape.text(pattern: "^[a-zA-Z]+$").named("code")

    private static let version = Shape<JSON>.object {
        Member(given: "patchId", Shape.text)
        Member(given: "version", Shape.text)
        Member(given: "kind", Shapes.kind)
        Member(given: "sha256", Shapes.sha256)
        Member(given: "outcome", outcome, "The decision about it.")
        Member(given: "rules", rule.list, "Its rules, in the order in which they are judged.")
    }

    private static let outcome = Shape<JSON>.object {
        Member(given: "code", code)
        Member(given: "why", code, "With passedOver: the first rule that excludes it.", isRequired: false)
        Member(given: "text", Shape.text, "The same in words.", isRequired: false)
        Member(given: "version", Shape.text, "The version that excludes or replaces it.", isRequired: false)
        Member(given: "until", Shapes.time, "The time from which it may start.", isRequired: false)
    }

    private static let rule = Shape<JSON>.object {
        Member(given: "rule", code)
        Member(given: "passes", Shape.flag)
        Member(given: "needs", Shape.text, "The version's requirement, in words.", isRequired: false)
        Member(given: "has", Shape.text, "The device's value, in words.", isRequired: false)
        Member(given: "code", code, "Why it does not pass.", isRequired: false)
        Member(
            given: "turns",
            turn.list(atLeast: 1),
            "The smallest changes with which it would pass.",
            isRequired: false
        )
    }

    private static let turn = Shape<JSON>.object {
        Member(given: "code", code)
        Member(given: "appVersion", Shape.text, isRequired: false)
        Member(given: "facts", Shape.text.list, isRequired: false)
        Member(given: "until", Shapes.time, isRequired: false)
        Member(given: "patchId", Shape.text, "The version to approve.", isRequired: false)
        Member(given: "version", Shape.text, isRequired: false)
        Member(given: "from", Shape.number, "In devices of 10,000.", isRequired: false)
        Member(given: "to", Shape.number, "In devices of 10,000.", isRequired: false)
        Member(given: "compatibility", Shape.text, isRequired: false)
        Member(given: "rule", Shape.text, isRequired: false)
        Member(given: "allowance", Shape.integer(0...), "In bytes.", isRequired: false)
        Member(given: "bytes", Shape.integer(0...), "The bytes to free on the disk.", isRequired: false)
    }
}

extension Failure {
    package static let noListYet = Failure(
        "no list was verified here yet",
        hint: "run `patchsync sync` first",
        code: .refused
    )

    /// - Parameter patch: The patch, as the user named it.
    package static func notListed(_ patch: String) -> Failure {
        Failure("\(patch) is not listed", hint: "`patchsync explain` shows the listed patches", code: .refused)
    }
}
