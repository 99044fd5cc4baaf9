import HTTPFiles
import NIOHTTP1
import PatchFormat

/// What a route answers.
enum ControlAnswer: Sendable {
    case json(JSON, status: HTTPResponseStatus = .ok, headers: HTTPHeaders = [:])
    case nothing
    case stream(ServedStream)

    var served: FileAnswer {
        switch self {
        case .json(let json, let status, let headers):
            .bytes(
                ServedBytes(
                    status: status,
                    bytes: json.fileBytes + [0x0A],
                    contentType: "application/json",
                    cacheControl: "no-store",
                    headers: headers
                )
            )
        case .nothing:
            .bytes(
                ServedBytes(
                    status: .noContent,
                    bytes: [],
                    contentType: "application/json",
                    cacheControl: "no-store"
                )
            )
        case .stream(let stream): .stream(stream)
        }
    }
}

extension ControlProblem {
    var served: FileAnswer {
        .bytes(
            ServedBytes(
                status: status,
                bytes: json.fileBytes + [0x0A],
                contentType: Self.mediaType,
                cacheControl: "no-store",
                headers: HTTPHeaders(allow.map { [("Allow", $0)] } ?? [])
            )
        )
    }
}
