import PatchFormat

/// The events of `patchsync serve --json`, for its schema and its page.
package struct EventDocument: Sendable {
    let name: String
    let about: String
    let shape: Shape<JSON>

    private init(_ name: String, _ about: String, @MembersBuilder<JSON> _ members: () -> [Member<JSON>] = { [] }) {
        (self.name, self.about) = (name, about)
        let event = Member<JSON>(given: "event", Shape.constant(name))
        shape = .object {
            event
            members()
        }
    }

    private static let version = Shape<JSON>.object {
        Member(given: "patchId", Shape.text)
        Member(given: "version", Shape.text)
    }
    .named("version")

    private static let scriptState = Shape<JSON>.object {
        Member(given: "patchId", Shape.text)
        Member(given: "version", Shape.text)
        Member(given: "state", Shape.oneOf(["Success", "FileNotExist", "FileNotMatch", "UnKnownError"]))
        Member(given: "failure", Shape.text, isRequired: false)
    }

    private static let awaited = Shape<JSON>.object {
        Member(given: "patchId", Shape.text)
        Member(given: "version", Shape.text)
        Member(given: "security", Shapes.advisory, isRequired: false)
    }

    package static let all: [EventDocument] = serving + pages + syncing

    private static let serving: [EventDocument] = [
        EventDocument(
            "listening",
            "Pages are served. With --url-file the URL, which contains the access token, is in that file only; in a systemd journal it is "
                + "not printed."
        ) {
            Member(given: "url", Shape.text, isRequired: false)
            Member(given: "origin", Shape.text, isRequired: false)
            Member(given: "urlFile", Shape.text, isRequired: false)
            Member(given: "port", Shape.integer(1...))
        },
        EventDocument("nothingInstalled", "Nothing runs. A page shows the progress of the first download."),
        EventDocument("serving", "This selection is served; with a `launch` it is on trial.") {
            Member(given: "patches", version.list)
            Member(given: "launch", Shapes.launch, isRequired: false)
            Member(given: "selection", Shape.integer(1...), "Its number on this device.")
        },
        EventDocument("confirmed", "The trial was confirmed.") { Member(given: "patches", version.list) },
        EventDocument(
            "rolledBack",
            "The selection was rolled back, because its trial failed or by hand. Without `to` there is none to go back to."
        ) {
            Member(given: "to", version.list, isRequired: false)
            Member(given: "from", version.list)
            Member(given: "reason", Shapes.setback, isRequired: false)
            Member(given: "why", Shape.text, "The reason in words.", isRequired: false)
            Member(given: "pageError", Shapes.pageError, isRequired: false)
        },
        EventDocument("unproven", "The first version was not confirmed in time. It stays, because there is no other.") {
            Member(given: "patches", version.list)
        },
        EventDocument(
            "superseded",
            "The trial ended without a result: a sync chose another selection before it was decided."
        ) {
            Member(given: "patches", version.list)
            Member(
                given: "by",
                version.list,
                "The selection in its place; empty if the trial was removed without another."
            )
        },
        EventDocument("withdrawn", "This launch removed these patches.") { Member(given: "patches", Shape.text.list) },
        EventDocument("following", "Another process chose another channel.") { Member(given: "channel", Shape.text) },
        EventDocument("damaged", "Files that are not served until a sync heals them.") {
            Member(given: "files", Shape.text.list)
        },
    ]

    private static let pages: [EventDocument] = [
        EventDocument(
            "scriptFailed",
            "A script failed in a page, or a page did not load it. A trial is rolled back next."
        ) {
            Member(given: "patchId", Shape.text)
            Member(given: "version", Shape.text)
            Member(given: "fault", Shape.oneOf(["threw", "unloaded"]))
            Member(given: "message", Shape.text, "As the browser words it.")
            Member(given: "line", Shape.integer(0...), "From 1; 0 if unknown.")
            Member(given: "column", Shape.integer(0...))
        },
        EventDocument("scriptsLeftOut", "A page was served without its scripts.") {
            Member(given: "page", Shape.text, "Its path.")
            Member(given: "reason", Shape.text, "In words that follow `it`.")
        },
        EventDocument(
            "stalePage",
            "A page of another version stays on the screen: a service worker or another cache keeps it."
        ) {
            Member(given: "version", Shape.text, "The version of that page, if known.", isRequired: false)
        },
        EventDocument("scripts", "With --scripts: the states of the active script patches on a sample host.") {
            Member(given: "patches", scriptState.list)
        },
        EventDocument("bundleMissing", "The running selection does not contain the bundle that --bundle names.") {
            Member(given: "bundle", Shape.text)
            Member(given: "bundles", Shape.text.list)
        },
    ]

    private static let syncing: [EventDocument] = [
        EventDocument("parameters", "The online parameters changed.") {
            Member(given: "channel", Shape.text)
            Member(given: "parameters", Shape.parameters)
        },
        EventDocument("synced", "A sync ended.") {
            Member(given: "roleVersion", Shape.integer(1...))
            Member(given: "isNew", Shape.flag, "Whether a new selection waits.")
            Member(given: "awaiting", awaited.list, "Versions that wait for approval.", isRequired: false)
            Member(
                given: "putOff",
                Shapes.putOff.list,
                "Versions that wait for an unmetered network, as in `sync`.",
                isRequired: false
            )
        },
        EventDocument("stateFault", "state.json could not be read.") {
            Member(given: "file", Shape.text)
            Member(given: "error", Shape.text)
            Member(given: "standby", Shape.oneOf(["previous", "embedded", "nothing"]))
        },
        EventDocument("noRoom", "A version does not fit on the disk. The served version stays.") {
            Member(given: "patchId", Shape.text)
            Member(given: "version", Shape.text)
            Member(given: "needs", Shape.integer(0...), "Bytes that it still needs on the disk.")
            Member(given: "free", Shape.integer(0...))
            Member(given: "reserve", Shape.integer(0...), "Bytes that downloads leave free.")
        },
        EventDocument(
            "linesLost",
            "Lines before this one that could not be written: the disk was full, or the reader was gone."
        ) { Member(given: "count", Shape.integer(1...)) },
        EventDocument("trouble", "An error, in words. The served version stays.") {
            Member(given: "error", Shape.text)
        },
    ]
}

extension Shape where Value == JSON {
    fileprivate static func constant(_ name: String) -> Shape {
        Shape(schema: [("const", .text(name))], word: "`\(name)`", json: { $0 })
    }

    /// An object whose values are texts, numbers or Booleans.
    fileprivate static var parameters: Shape {
        let kinds = JSON.array(["string", "integer", "boolean"].map { .text($0) })
        return Shape(
            schema: [("type", .text("object")), ("additionalProperties", .ordered([("type", kinds)]))],
            word: "object",
            json: { $0 }
        )
    }
}

extension [EventDocument] {
    package var schema: String {
        let head: [(String, JSON)] = [
            ("type", .text("object")), ("required", .array([.text("event")])),
            ("oneOf", .array(map { .ordered($0.shape.described($0.about)) })),
        ]
        return JSON.schema(
            "events",
            title: "patchsync serve --json",
            "One line of the stream: an object each. Events may be added; a reader ignores unknown ones.",
            head,
            flatMap(\.shape.definitions)
        )
    }

    /// The events as a Markdown table.
    package var table: String {
        let rows = map { event in
            let members = event.shape.rows.dropFirst().filter { !$0.path.contains("[]") && !$0.path.contains(".") }
            let names = members.map { "`\($0.path)`\($0.isRequired ? "" : " ?")" }.joined(separator: ", ")
            return "| `\(event.name)` | \(names) | \(event.about) |"
        }
        return (["| event | members | |", "|---|---|---|"] + rows).joined(separator: "\n")
    }
}
