import PatchFormat
import PatchRelease
import CommandKit

/// The hints of `patchsign` for problems of a bundle's folder.
extension Failure {
    static func hint(_ problem: BundleProblem) -> String? {
        switch problem {
        case .symbolicLink:
            "copy the file to its place; `links: follow` in release.yaml follows those that stay inside a bundle's folder"
        case .link(_, .leftOut): "add the file with `include:` in release.yaml, or leave the link out with `exclude:`"
        case .link: "copy the file to its place, or leave the link out by `exclude:` in release.yaml"
        case .releaseInside: "move it elsewhere, or leave it out by `exclude:` in release.yaml or a .patchlineignore"
        case .secret:
            "move it elsewhere, or leave it out by `exclude:` in release.yaml or a .patchlineignore; if it is meant for everyone, "
                + "name its path in `allow-secrets:`"
        case .archived:
            "make the archive without it, or leave the archive out by `exclude:` in release.yaml or a .patchlineignore; if it is "
                + "meant for everyone, name the archive's path in `allow-secrets:`"
        case .badName(_, .segmentTooLong), .badName(_, .tooLong):
            "shorten the names of its folders; a path in a bundle has at most 1,024 bytes"
        case .badName, .notUTF8, .twins: problem.groups.first?.renaming
        case .special: "remove it, or leave it out by `exclude:` in release.yaml"
        case .reserved: "give the folder another name"
        case .noIndex(let index, _, let pages) where pages.first?.text.hasSuffix("/\(index)") == true:
            "the app may be in a folder of it: add /\(pages[0].text.dropLast(index.text.utf8.count + 1)) to `folder`"
        case .gateway(.meteor, _):
            "set `folder` to Meteor's build for the native app: .meteor/local/cordova-build/www/application"
        case .noHost: "write it with PatchHost.interface in the host's program"
        case .several(let problems):
            problem.groups.count == 1
                ? problem.groups[0].renaming ?? problems.first.flatMap { hint($0) } : several(problem.groups)
        case .gateway(.loader, _), .gateway(.platform, _), .missing, .notAFolder, .notAFile, .empty, .tooManyFiles,
            .noIndex, .manifest, .scriptNotUTF8, .noProgram, .exclusions, .ignoreFile, .changed:
            nil
        }
    }

    /// One line for each kind of problem, with its remedy.
    static func several(_ problem: BundleProblem, at place: DescriptionError) -> Failure {
        let mistakes = problem.mistakes(at: place)
        return Failure("\(mistakes.first ?? place)", hint: several(problem.groups), code: .malformed)
    }

    private static func several(_ groups: [BundleProblemGroup]) -> String {
        let others = groups.dropFirst().map { "also \($0.sentence)" }
        let remedies = groups.compactMap { group in group.renaming ?? group.problems.first.flatMap { hint($0) } }
        return (others + remedies).joined(separator: "\n")
    }
}
