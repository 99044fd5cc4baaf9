import ArgumentParser
import PatchFormat
import PatchRelease
import CommandKit

/// The option that a promotion to older versions requires.
enum PromotionBack {
    static let help: ArgumentHelp =
        "Allow a promotion to versions below the channel's newest one. --yes does not allow it."

    /// - Throws: a failure if there is a step back.
    static func refuse(_ steps: [StepBack], in channel: ChannelName) throws(Failure) {
        guard let first = steps.first else { return }
        let more = steps.count == 1 ? "" : ", and \(Words.count(steps.count - 1, "other version")) too"
        throw Failure(
            "\(first.label) is below \(first.newest), the newest version in \(channel)\(more)",
            hint: "nothing was signed; add --back if you mean it. If you do not, check the server: it may show an old "
                + "release of the other channel",
            code: .refused
        )
    }
}
