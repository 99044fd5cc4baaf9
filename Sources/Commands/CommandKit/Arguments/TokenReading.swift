package import PatchFormat

/// Where the text of a token comes from, for every command that asks a release service.
package enum TokenReading {
    /// The variable of the environment that holds one where no file is named.
    package static let variable = "PATCHLINE_TOKEN"

    /// - Parameters:
    ///   - file: as it was named, `-` for standard input; nil for the environment.
    ///   - limit: how many bytes the file may have.
    ///   - parse: nil for what is no token.
    package static func token<Token>(
        file: String?,
        limit: Int,
        _ parse: (String) -> Token?
    ) throws(Failure) -> Token {
        let (text, place) = try source(file, limit: limit)
        guard let token = parse(text) else {
            throw Failure("\(place) holds no token: it \(TokenText.rule)", code: .malformed)
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
