import ArgumentParser
import PatchFormat

/// `web=10%`: the share of devices that may install a promoted version.
struct PromotedShare: Sendable {
    let patchID: PatchID
    let share: RolloutShare

    static let help = ArgumentHelp(
        "The rollout ceiling of a patch's newest version, instead of the other channel's. Only that version is "
            + "promoted; other devices keep the channel's present one. Repeatable.",
        valueName: "patch=share%"
    )

    /// - Throws: the missing part, with a suggestion.
    init(_ text: String) throws {
        let form = "it must be PATCH=SHARE%, such as web=10%"
        guard let mark = text.firstIndex(of: "=") else { throw ValidationError("it names no patch; \(form)") }
        guard let id = PatchID(String(text[..<mark])) else {
            throw ValidationError("the patch \(PatchID.rule); \(form)")
        }
        patchID = id
        do throws(RolloutShareMisread) {
            share = try RolloutShare(written: String(text[text.index(after: mark)...]))
        } catch {
            throw ValidationError("\(error); \(form)")
        }
    }
}
