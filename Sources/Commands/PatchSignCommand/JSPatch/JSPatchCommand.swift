import ArgumentParser
import PatchCrypto

/// `patchsign jspatch`: signatures for JSPatch's loader.
struct JSPatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jspatch",
        abstract: "Signs and verifies one file in JSPatch's own form.",
        discussion: """
            The form is an RSA PKCS#1 type-1 block over the hex characters of the file's MD5 (or SHA-1): the bytes of \
            `openssl pkeyutl -sign`. It says nothing of app, channel or version, so its key has no other use. In a \
            release it is made with `patchsign release --jspatch-key`.

            EXAMPLES
              patchsign jspatch sign script.zip --key jspatch.key --output key
              patchsign jspatch verify script.zip --signature key --public jspatch.pub
            """,
        subcommands: [JSPatchSignCommand.self, JSPatchVerifyCommand.self]
    )
}

extension JSPatchDigest: ArgumentParser.ExpressibleByArgument {}
