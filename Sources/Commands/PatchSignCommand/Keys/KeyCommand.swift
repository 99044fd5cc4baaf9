import ArgumentParser

/// `patchsign key`: single keys.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Make a key, print its public half, or list keys.",
        discussion: """
            A key argument is one of: a PKCS#8 file; NAME.signer, which describes a command that signs; the pkcs11:
            URI of a key on a token.

            EXAMPLES
              patchsign key new production-carol --keys Keys
              patchsign key public Keys/production-carol.key --output carol.pub
              patchsign key public 'pkcs11:token=release;object=production'
              patchsign key list --keys Keys
            """,
        subcommands: [KeyNewCommand.self, KeyPublicCommand.self, KeyListCommand.self]
    )
}
