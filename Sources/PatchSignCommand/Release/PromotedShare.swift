import ArgumentParser
import PatchFormat

/// `web=10%`: the share of devices that a promoted version may be taken by.
struct PromotedShare: Sendable {
    let patchID: PatchID
    let share: Share

    static let help = ArgumentHelp(
        "Let so many devices take the newest version of a patch, in place of the other channel's rule; may stand several "
            + "times.",
        valueName: "patch=share%"
    )

    /// - Throws: what is missing, with what was probably meant.
    init(_ text: String) throws {
        let form = "PATCH=SHARE%, such as web=10%"
        guard let mark = text.firstIndex(of: "=") else {
            throw ValidationError("it names no patch; it must be \(form)\(Self.meant(text, "PATCH="))")
        }
        guard let id = PatchID(String(text[..<mark])) else {
            throw ValidationError("the patch \(PatchID.rule); it must be \(form)")
        }
        let value = String(text[text.index(after: mark)...])
        guard let share = Share(value) else {
            let why = value.hasSuffix("%") ? "the share \(Share.rule)" : "the share has no per cent sign"
            throw ValidationError("\(why); it must be \(form)\(Self.meant(value, "\(id)="))")
        }
        (patchID, self.share) = (id, share)
    }

    /// What a number can mean, such as web=10% for 1,000 of 10,000 devices.
    ///
    /// Without a per cent sign 0.1 may be a tenth, too.
    private static func meant(_ value: String, _ patch: String) -> String {
        let number = value.filter { $0 != " " && $0 != "%" }
        guard let share = Share(number + "%") else { return "" }
        let fraction = Share(share.tenThousandths * 100)
        let isFraction = number.contains(".") && !value.contains("%") && fraction.tenThousandths <= 10_000
        return "; "
            + [isFraction ? fraction : nil, share].compactMap(\.self)
            .map { "\(patch)\($0) is \(Words.grouped($0.tenThousandths)) of 10,000 devices" }
            .joined(separator: ", ")
    }
}
