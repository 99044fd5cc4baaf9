package import PatchFormat

/// Reads the text of a token, for every command that uses a release service.
package enum TokenReading {
    /// The environment variable with a token, which is used if no file is given.
    package static let variable = "PATCHLINE_TOKEN"

    /// - Parameters:
    ///   - file: The file as given, `-` for standard input, or nil for the environment.
    ///   - limit: The largest file in bytes.
    ///   - parse: Returns nil for a text that is not a valid token.
    package static func token<Token>(
        file: String?,
        limit: Int,
        _ parse: (String) -> Token?
    ) throws(Failure) -> Token {
        let (text, place) = try source(file, limit: limit)
        guard let token = parse(text) else {
            throw Failure("\(place) has no token: it \(TokenText.rule)", code: .malformed)
        }
        return token
    }

    private static func source(_ file: String?, limit: Int) throws(Failure) -> (text: String, place: String) {
        if let file {
            let place = SecretInput.name(of: file)
            do throws(SystemError) {
                return (String(decoding: try SecretInput.bytes(of: file, .whole(limit: limit)), as: UTF8.self), place)
            } catch { throw Failure("cannot read the token from \(place): \(error.reason)", code: .disk) }
        }
        guard let text = ProcessEnvironment.environment(variable) else {
            throw Failure(
                "there is no token",
                hint: "name its file with --token-file, or set \(variable); `patchsrv token new` makes one",
                code: .usage
            )
        }
        return (text, variable)
    }
}
