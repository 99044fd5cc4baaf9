import HTTPFiles
import NIOHTTP1
import PatchFormat

/// The paths under `/__patchline/`: what a page says to the device that serves it.
enum PageAPI {
    static let prefix = "__patchline"
    /// Other origins cannot send it without being asked first, and are never allowed to.
    static let switchHeader = "X-Patchline-Switch"

    /// A script that gives the page its launch token when it loads, so that it can only ever speak for the launch that
    /// served it (X8).
    static func launchScript(token: String?) -> FileAnswer {
        let script = """
            window.patchline = {
              launch: \(token.map { "\"\($0)\"" } ?? "null"),
              async confirm() {
                if (this.launch === null) return "alreadyConfirmed";
                const answer = await fetch("/\(prefix)/confirm?launch=" + this.launch, { method: "POST" });
                const body = await answer.json();
                if (!answer.ok) throw new Error(body.error);
                return body.result;
              },
              // Starts the version that waits, if one may start in a running app, and loads the page again.
              async switchToPending() {
                const headers = { "\(switchHeader)": "1" };
                const answer = await fetch("/\(prefix)/switch", { method: "POST", headers });
                const body = await answer.json();
                if (!answer.ok) throw new Error(body.error);
                location.reload();
              },
            };

            """
        return .bytes(
            ServedBytes(
                bytes: Array(script.utf8),
                contentType: ContentType.of(path: "launch.js"),
                cacheControl: "no-store"
            )
        )
    }

    static func json(_ status: HTTPResponseStatus, _ key: String, _ value: String) -> FileAnswer {
        .bytes(
            ServedBytes(
                status: status,
                bytes: JSON.fields([(key, .text(value))]).fileBytes,
                contentType: "application/json",
                cacheControl: "no-store"
            )
        )
    }

    /// `launch=TOKEN` of a query.
    static func launch(in query: String?) -> String? {
        query?.split(separator: "&").first { $0.hasPrefix("launch=") }.map { String($0.dropFirst(7)) }
    }
}
