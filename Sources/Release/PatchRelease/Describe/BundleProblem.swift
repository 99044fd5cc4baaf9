package import PatchFormat
package import PatchLanguage
package import SystemPackage

/// The reason why a file or folder does not fit its description.
package enum BundleProblem: Error, Equatable, Sendable {
    case missing(FilePath)
    /// A symbolic link can lead anywhere, and its target can change independently.
    case symbolicLink(FilePath)
    /// A pipe, socket or device.
    case special(FilePath)
    case notAFolder(FilePath)
    case notAFile(FilePath)
    case badName(FilePath, AssetPath.Problem)
    case notUTF8(in: FilePath, name: [UInt8])
    /// Paths that differ only by case.
    case twins(AssetPath, AssetPath, in: FilePath)
    /// A link that cannot be followed although links are enabled.
    case link(FilePath, LinkFault)
    /// `__patchline/` is reserved for the device's own endpoints.
    case reserved(FilePath)
    case empty(FilePath)
    case tooManyFiles(FilePath, limit: Int)
    /// The index page is missing; includes some of the existing pages.
    case noIndex(AssetPath, in: FilePath, pages: [AssetPath])
    /// The files together break a rule of the manifest.
    case manifest(Label, field: String, rule: String)
    /// The clients of a gateway would reject the bundle.
    case gateway(Gateway, String)
    /// The script is not UTF-8, so devices would not run it.
    case scriptNotUTF8(FilePath)
    /// The script engine rejects the script. Line and column are counted from 1, if known.
    case noProgram(FilePath, line: Int?, column: Int?, message: String)
    /// An invalid document of a host's interface.
    case noHost(FilePath, HostInterfaceError)
    /// The folder contains an earlier release.
    case releaseInside(FilePath)
    /// A secret that would be readable on every device.
    case secret(FilePath, SecretKind)
    /// A secret in an archive, with its path inside the archive.
    case archived(FilePath, ArchivedSecret)
    case exclusions(FilePath, line: Int, rule: String)
    /// An ignore file that is not valid text.
    case ignoreFile(FilePath, FileText.Problem)
    /// The file was modified while it was read.
    case changed(FilePath)
    /// At least two problems.
    case several([BundleProblem])

    package enum LinkFault: Equatable, Sendable {
        case outside(FilePath)
        case nowhere
        /// The link leads to one of its parent folders.
        case circle
        /// A rule excludes the link's target.
        case leftOut(String)
    }

    /// Returns nil for an empty list.
    init?(_ problems: [BundleProblem]) {
        guard let first = problems.first else { return nil }
        self = problems.count == 1 ? first : .several(problems)
    }

    /// The individual problems.
    package var each: [BundleProblem] {
        if case .several(let problems) = self { problems.flatMap(\.each) } else { [self] }
    }
}

extension BundleProblem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .missing(let path): "\(path) does not exist"
        case .symbolicLink(let path): "\(path) is a symbolic link; a release contains only files and folders"
        case .special(let path): "\(path) is neither a file nor a folder"
        case .notAFolder(let path): "\(path) is not a folder"
        case .notAFile(let path): "\(path) is not a file"
        case .badName(let path, let problem): "\(path): its path in the bundle \(problem.rawValue)"
        case .notUTF8(let folder, let name): "\(folder) contains a name that is not UTF-8: \(ShellWord.quoted(name))"
        case .twins(let one, let other, let folder): "\(folder): \(other) equals \(one) after case folding"
        case .link(let link, .outside(let target)): "\(link) leads out of the bundle's folder, to \(target)"
        case .link(let link, .nowhere): "\(link) is a symbolic link that leads nowhere"
        case .link(let link, .circle): "\(link) is a symbolic link to a folder that it is in"
        case .link(let link, .leftOut(let path)): "\(link) leads to \(path), which is left out"
        case .reserved(let path): "\(path): paths below __patchline/ belong to the device"
        case .empty(let folder): "\(folder) contains no file"
        case .tooManyFiles(let folder, let limit): "\(folder) contains more than \(limit) files"
        case .noIndex(let index, let folder, let pages):
            "\(index) is not in \(folder)"
                + (pages.isEmpty ? "" : "; it has \(pages.map(\.text).joined(separator: ", "))")
        case .manifest(let label, let field, let rule): "\(label): \(field) \(rule)"
        case .gateway(let gateway, let why): "\(gateway.system)'s clients cannot install it: \(why)"
        case .scriptNotUTF8(let path): "\(path) is not UTF-8; a script is text"
        case .noProgram(let path, let line, let column, let message):
            path.string + [line, line == nil ? nil : column].compactMap { $0.map { ":\($0)" } }.joined()
                + ": \(message)"
        case .noHost(let path, let error): "\(path): \(error)"
        case .releaseInside(let path): "\(path) is a signed release; it would be signed and published again as files"
        case .secret(let path, let kind): "\(path) contains \(kind.words); anyone could read it once it is published"
        case .archived(let path, let secret):
            "\(path): \(secret.entry) contains \(secret.kind.words); anyone could read it once it is published"
        case .exclusions(let path, let line, let rule): "\(path):\(line): the pattern \(rule)"
        case .ignoreFile(let path, let problem): "\(path) \(problem.rawValue)"
        case .changed(let path): "\(path) changed while it was read"
        case .several: groups.map(\.sentence).joined(separator: "; ")
        }
    }
}
