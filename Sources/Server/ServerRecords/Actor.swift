package import PatchFormat

/// The originator of a change on a server.
package enum Actor: Equatable, Sendable {
    case token(id: String, name: String)
    /// A user at the machine itself, by the name of the account that ran the command.
    case local(user: String)
    /// The server, when it completes or reverts work at its start.
    case server

    package init(_ fields: Fields) throws(FormatError) {
        switch try fields.string("kind") {
        case "token": self = .token(id: try fields.string("id"), name: try fields.string("name"))
        case "local": self = .local(user: try fields.string("name"))
        case "server": self = .server
        default: throw fields.broken("kind", "must be token, local or server")
        }
    }

    package var json: JSON {
        switch self {
        case .token(let id, let name):
            .fields([("kind", .text("token")), ("id", .text(id)), ("name", .text(name))])
        case .local(let user): .fields([("kind", .text("local")), ("name", .text(user))])
        case .server: .fields([("kind", .text("server"))])
        }
    }

    /// The actor as one line of text.
    package var text: String {
        switch self {
        case .token(let id, let name): "\(name) (token \(id))"
        case .local(let user): "\(user) at the server"
        case .server: "the server"
        }
    }
}
