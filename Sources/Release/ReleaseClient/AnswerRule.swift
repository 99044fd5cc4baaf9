/// The rules for a server's answer that is well-formed but does not fit the request.
enum AnswerRule {
    static let draft = "is not the requested draft"
    static let proposal = "must be the requested one"
    static let change = "must be the proposed change; is the server older than this program?"
    static let object = "is not the requested object"
    static let outcome = "must be published, drafted or alreadyPublished"

    static func older(than current: Int) -> String { "must be below \(current), the number of the current release" }

    static func took(_ bytes: Int, of size: Int, _ part: String) -> String {
        "\(part): the server received \(bytes) of \(size) bytes"
    }
}
