import HTTPAPI
import ServerRecords

/// A route of the operators' API.
typealias OperatorRoute = APIRoute<OperatorAccess, APICall>

/// The right that a route of the operators' API needs.
enum OperatorAccess: APIAccess, Equatable {
    /// No token is needed.
    case everybody
    /// Any valid token is sufficient.
    case anyone
    /// A role on the app in the path, or in its channel if the path has one.
    ///
    /// A token for one channel of an app also has the role viewer on the app.
    case app(AccessRole)
    /// A role in the channel of the requested release, see ``APICall/check(_:on:in:)``.
    case release(AccessRole)
    /// A role on the server itself, above its apps.
    case server(AccessRole)

    var needsToken: Bool { self != .everybody }

    var about: String? {
        switch self {
        case .everybody, .anyone: nil
        case .app(let role): "Needs the role \(role.rawValue) on the app."
        case .release(let role): "Needs the role \(role.rawValue) on the app, or in the release's channel."
        case .server(let role): "Needs the role \(role.rawValue) on every app (`*`)."
        }
    }
}
