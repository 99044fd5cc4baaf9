import HTTPAPI
import HTTPFiles
import NIOHTTP1
import PatchFetch
import PatchFormat
import PatchStore
import SystemPackage
import CommandKit
import Testing

@testable import PatchDaemon

@Suite("What the local socket says")
struct ControlTranscripts {
    @Test func `of itself and of what goes wrong stands in its transcript`() throws {
        var transcript = Transcript(
            "patchsync-socket",
            about: "What the daemon says of its socket: what can be asked there, and why it was not done."
        )
        let work = ControlWork(hosts: { [] }, log: EventLog(), deadlines: .init(), beat: .seconds(30), later: { _ in })
        let about = try #require(ControlDescription.make(work.routes)["info"])
        transcript.section("about", try ["title", "description"].map { text(try #require(about[$0])) })
        for route in work.routes {
            transcript.list(
                "\(route.method.rawValue) \(route.path)",
                [route.about]
                    + (route.pathParameters.map { _ in ControlDescription.store } + route.query + route.headers)
                    .map { "\($0.name): \($0.about ?? "")" }
                    + route.answers.map { "\($0.status): \($0.about)" }
            )
        }
        let problems: [APIProblem] = [
            .noSuchResource, .noSuchStore, .notAllowed(["GET", "PATCH"]), .fromAPage,
            .refused("The request's body is too large.", .payloadTooLarge),
            .init(Failure("the list expired", hint: "look at its clock.", code: .refused)),
            .invalid(FormatError("the body", field: "keep", rule: "must be an integer from 0 to 10")),
            .invalid(
                FormatError("the body", field: "consent", rule: "is not a member of this request"),
                hint: "did you mean policy.consent?"
            ),
        ]
        transcript.section("problems", problems.map { text($0.json) })
        let path = Sample.path
        let errors: [ControlError] = [
            .file(.permission(.makeDirectory, path)), .notASocket(path), .answered(path), .locked(path),
            .pathTooLong(path, limit: 103), .cannotListen(path, .permissionDenied),
            .server(.listenerFailed(reason: "no more descriptors")), .server(.portInUse(host: "", port: 0)),
        ]
        transcript.section("no socket", errors.map { Failure($0).transcript })
        try transcript.check()
    }

    private func text(_ json: JSON) -> String {
        if case .string(let text) = json { text.text } else { String(decoding: json.fileBytes, as: UTF8.self) }
    }
}
