import PatchFormat
import PatchRelease
import PatchCrypto
import PatchTrust
import SystemPackage
import Testing

@testable import PatchServerCommand
@testable import PatchSignCommand
@testable import CommandKit

@Suite("What a person at a terminal is asked and told")
struct PromptTranscripts {
    @Test func `stands in its transcript`() throws {
        var prompts = Transcript(
            "terminal",
            about: "What the programs ask on a terminal, and say there while they work."
        )
        let uri = try TokenURI("pkcs11:token=release;object=production")
        prompts.list(
            "secrets",
            [
                KeyOpening.question(for: "Keys/production.key"), KeyOpening.question(for: uri), NewKeyOptions.question,
                ProtectionOptions.question,
                QuickstartCommand.newPassphrase, QuickstartCommand.passphrase,
                TypedPassphrases.question(for: "Keys/online.key"), SecretInput.question(for: "-"),
                SecretInput.question(for: "/dev/tty"),
            ]
        )
        prompts.list(
            "questions",
            [Question.release, Question.about(["root", "targets"])].map(Question.withChoice)
                + [KeyHoldersQuestion.count, KeyHoldersQuestion.names]
        )
        prompts.list(
            "work",
            [InitCommand.progressLabel, PushProgress.waiting, ReleaseWork.preparingLabel]
                + [ReleaseBuilder.Phase.reading(Sample.patch), .signing, .signingJSPatch].map(ReleaseWork.label)
        )
        try prompts.check()
    }
}
