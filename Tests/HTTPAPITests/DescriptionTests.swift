import HTTPAPI
import HTTPCore
import HTTPFiles
import NIOHTTP1
import PatchFormat
import Testing

@Suite("A described API")
struct DescriptionTests {
    private enum Access: APIAccess {
        case open, admin

        var needsToken: Bool { self == .admin }
        var about: String? { self == .admin ? "Needs an admin." : nil }
    }

    private static let routes: [APIRoute<Access, String>] = [
        APIRoute(
            method: .GET,
            path: "/shops/{shop}",
            name: "show",
            about: "A shop.",
            access: .open,
            query: [APIParameter(name: "at", about: "As of then.", schema: .integer(0...9))],
            answers: [DescribedAnswer(status: 200, about: "It.", schema: .object([("name", .text())], more: true))],
            work: { .json(.text($0)) }
        ),
        APIRoute(
            method: .PATCH,
            path: "/shops/{shop}",
            name: "set",
            about: "Changes it.",
            access: .admin,
            body: .json(.object([], optional: [("name", .text())]), limit: 100, isRequired: false),
            answers: [DescribedAnswer(status: 204, about: "Done.")],
            problems: [409],
            work: { _ in .nothing }
        ),
    ]

    private static let problem = #"""
        {"content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem"}}},"description":"Why not."}
        """#

    @Test func `is written from its routes, with the problems and the token of each`() throws {
        let document = OpenAPI(
            title: "Shops",
            about: "All.",
            server: ("/api", "Here."),
            parameters: [APIParameter(name: "shop", about: nil, schema: .text("^[a-z]+$"))],
            problems: .byStatus([404], withToken: [401]),
            schemas: [("Problem", APISchema.document.json)]
        ).document(Self.routes)
        let shop = #"{"in":"path","name":"shop","required":true,"schema":{"pattern":"^[a-z]+$","type":"string"}}"#
        let number = #"{"maximum":9,"minimum":0,"type":"integer"}"#
        let at = #"{"description":"As of then.","in":"query","name":"at","required":false,"schema":\#(number)}"#
        let expected: [String] = [
            #"{"components":{"schemas":{"Problem":{"type":"object"}},"#,
            #""securitySchemes":{"token":{"scheme":"bearer","type":"http"}}},"#,
            #""info":{"description":"All.","title":"Shops","version":"1"},"openapi":"3.1.0","#,
            #""paths":{"/shops/{shop}":{"get":{"operationId":"show","parameters":[\#(shop),\#(at)],"#,
            #""responses":{"200":{"content":{"application/json":{"schema":{"properties":{"name":{"type":"string"}},"#,
            #""required":["name"],"type":"object"}}},"description":"It."},"404":\#(Self.problem)},"#,
            #""summary":"A shop."},"patch":{"description":"Needs an admin.","operationId":"set","parameters":[\#(shop)],"#,
            #""requestBody":{"content":{"application/json":{"schema":{"additionalProperties":false,"#,
            #""properties":{"name":{"type":"string"}},"type":"object"}}}},"#,
            #""responses":{"204":{"description":"Done."},"401":\#(Self.problem),"404":\#(Self.problem),"#,
            #""409":\#(Self.problem)},"security":[{"token":[]}],"summary":"Changes it."}}},"#,
            #""servers":[{"description":"Here.","url":"/api"}]}"#,
        ]
        #expect(String(decoding: document.fileBytes, as: UTF8.self) == expected.joined())
    }

    @Test(
        arguments: [
            (.GET, "/api/shops/a", "show a"), (.HEAD, "/api/shops/a", "show a"), (.PATCH, "/api/shops/b", "set b"),
            (.PUT, "/api/shops/a", "GET PATCH"), (.GET, "/api/shops/a/", "nothing"), (.GET, "/shops/a", "nothing"),
            (.GET, "/api/shops", "nothing"), (.GET, "/api/shops/a/b", "nothing"), (.GET, "/", "nothing"),
        ] as [(HTTPMethod, String, String)]
    )
    func `is routed by the same table`(_ method: HTTPMethod, _ path: String, _ found: String) throws {
        let table = APITable(Self.routes, below: "/api")
        let match = table.match(FileRequest(method: method, path: try RequestPath(parsing: path)))
        let words =
            switch match {
            case .route(let route, let parameters): "\(route.name) \(parameters["shop"] ?? "")"
            case .otherMethods(let methods): methods.map(\.rawValue).joined(separator: " ")
            case .nothing: "nothing"
            }
        #expect(words == found)
    }

    @Test func `takes no member in a request that only answers have`() throws {
        let told = APISchema(json: .fields([("type", .text("string")), ("readOnly", .bool(true))]))
        let policy = APISchema.object([], optional: [("consent", .text()), ("until", told)], more: true)
        let members: [(String, APISchema)] = [("keep", .integer()), ("policy", policy), ("debug", told)]
        let schema = APISchema.object([], optional: members, more: true)
        #expect(schema.closed.memberPaths == ["keep", "policy.consent"])
        let rows: [(String, String?)] = [
            (#"{"keep":1,"policy":{"consent":"ask"}}"#, nil), (#"{"debug":"x"}"#, "debug"),
            (#"{"policy":{"until":"x"}}"#, "policy.until"), (#"{"consent":"ask"}"#, "consent"),
        ]
        for (text, unknown) in rows {
            let value = try JSON(parsing: Array(text.utf8))
            #expect(schema.closed.unknownMember(in: value) == unknown, "\(text)")
            if unknown != "consent" { #expect(schema.unknownMember(in: value) == nil, "\(text)") }
        }
    }

    @Test func `reads the members of a query in their order`() {
        let members = QueryMember.all(of: "a=1%2B2+3&b&c=%zz&d=x=y&&%61=2")
        #expect(members.map { $0.name ?? "?" } == ["a", "b", "c", "d", "a"])
        #expect(members.map(\.spelledName) == ["a", "b", "c", "d", "%61"])
        #expect(members.map { $0.value(plusIsSpace: true) ?? "?" } == ["1+2 3", "", "?", "x=y", "2"])
        #expect(members.first?.value(plusIsSpace: false) == "1+2+3")
        #expect(QueryMember.all(of: nil).isEmpty)
    }
}
