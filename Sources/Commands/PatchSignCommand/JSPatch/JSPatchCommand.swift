import ArgumentParser
import PatchCrypto

/// `patchsign jspatch`: signatures for JSPatch's loader.
struct JSPatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jspatch",
        abstract: "Sign and verify one file in JSPatch's own form.",
        discussion: """
            The form is an RSA PKCS#1 type-1 block over the hex characters of the file's MD5 or SHA-1: the bytes of
            `openssl pkeyutl -sign`. It does not name app, channel or version, so its key has no other use. In a
            release, `patchsign release --jspatch-key` makes it.

            EXAMPLES
              patchsign jspatch sign script.zip --key jspatch.key --output key
              patchsign jspatch verify script.zip --signature key --public jspatch.pub
            """,
        subcommands: [JSPatchSignCommand.self, JSPatchVerifyCommand.self]
    )
}

extension JSPatchDigest: ArgumentParser.ExpressibleByArgument {}
