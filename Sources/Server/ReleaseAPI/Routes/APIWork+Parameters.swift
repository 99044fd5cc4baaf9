import HTTPAPI
import NIOHTTP1
import PatchFormat
import PatchServer
import ReleaseService
import ServerRecords

extension APIWork {
    private static let path = "/apps/{app}/channels/{channel}/parameters"

    var aboutParameters: [OperatorRoute] {
        [
            OperatorRoute(
                method: .GET,
                path: Self.path,
                name: "showParameters",
                about: "The online parameters of a channel, and the tag that names them.",
                access: .app(.viewer),
                answers: [.init(status: 200, about: "Values by name.", schema: .document)],
                problems: [422],
                work: { call in
                    let (app, channel) = (try call.app(), try call.channel())
                    return .json(
                        try await operations.looking(app) { (repository) throws(ServerError) in
                            try repository.parameters(of: channel).json
                        }
                    )
                }
            ),
            OperatorRoute(
                method: .PUT,
                path: Self.path,
                name: "replaceParameters",
                about: "These parameters and no others; devices see them at their next sync.",
                access: .app(.operate),
                body: .json(
                    .object([("parameters", .parameters)], optional: [("expect", .sha256)]),
                    limit: 262_144
                ),
                answers: [.init(status: 200, about: "The parameters as they are now.", schema: .document)],
                problems: [409, 422, 507],
                work: replace
            ),
        ]
    }

    @Sendable private func replace(_ call: APICall) async throws -> APIAnswer {
        let (app, channel) = (try call.app(), try call.channel())
        let (values, tag) = try Self.wanted(try await call.fields())
        return .json(
            try await ChangeParameters(
                .replace(values),
                in: channel,
                of: app,
                expecting: tag,
                by: call.actor,
                operations
            ).run().json
        )
    }

    private static func wanted(
        _ fields: Fields
    ) throws(APIProblem) -> ([ParameterName: ParameterValue], SHA256Digest?) {
        do throws(FormatError) {
            let values = try fields.parameters("parameters")
            return (values, fields.has("expect") ? try fields.digest("expect") : nil)
        } catch { throw .malformed(error) }
    }
}

extension APISchema {
    /// Parameter values by name.
    fileprivate static let parameters = APISchema(
        json: .fields([
            ("type", .text("object")), ("maxProperties", .integer(Limits.parametersInChannel)),
            ("propertyNames", .fields([("pattern", .text("^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$"))])),
            (
                "additionalProperties",
                .fields([
                    (
                        "anyOf",
                        .array([
                            APISchema.text(upTo: 1_024).json,
                            APISchema.integer(-(1 << 53 - 1)...(1 << 53 - 1)).json, APISchema.bool.json,
                        ])
                    )
                ])
            ),
        ])
    )
}
