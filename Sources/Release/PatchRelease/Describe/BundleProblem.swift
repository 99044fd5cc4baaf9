package import PatchFormat
package import PatchLanguage
package import SystemPackage

/// Why a file or folder cannot become what its description says.
package enum BundleProblem: Error, Equatable, Sendable {
    case missing(FilePath)
    /// A symbolic link might lead anywhere, and its target changes without it.
    case symbolicLink(FilePath)
    /// A pipe, socket or device.
    case special(FilePath)
    case notAFolder(FilePath)
    case notAFile(FilePath)
    case badName(FilePath, AssetPath.Problem)
    case notUTF8(in: FilePath, name: [UInt8])
    /// Paths that are one path where case does not count.
    case twins(AssetPath, AssetPath, in: FilePath)
    /// Links are followed, and this one cannot be.
    case link(FilePath, LinkFault)
    /// `__patchline/` is where the device answers by itself.
    case reserved(FilePath)
    case empty(FilePath)
    case tooManyFiles(FilePath, limit: Int)
    /// The page that is to be opened; the pages that are there, a few of them.
    case noIndex(AssetPath, in: FilePath, pages: [AssetPath])
    /// What the files break together, in the words of the manifest.
    case manifest(Label, field: String, rule: String)
    /// The clients of another system would not take it.
    case gateway(Gateway, String)
    /// A device would not run it.
    case scriptNotUTF8(FilePath)
    /// The engine that scripts run in refuses it; line and column from 1, where they are known.
    case noProgram(FilePath, line: Int?, column: Int?, message: String)
    /// What a host exposes, in a document that is none.
    case noHost(FilePath, HostInterfaceError)
    /// A release that was made before lies in the folder.
    case releaseInside(FilePath)
    /// Anyone could read it on any device.
    case secret(FilePath, SecretKind)
    /// The same in an archive, under the path that it has there.
    case archived(FilePath, ArchivedSecret)
    case exclusions(FilePath, line: Int, rule: String)
    /// An ignore file that is not text.
    case ignoreFile(FilePath, FileText.Problem)
    /// The file was written while it was read.
    case changed(FilePath)
    /// At least two.
    case several([BundleProblem])

    package enum LinkFault: Equatable, Sendable {
        case outside(FilePath)
        case nowhere
        /// It leads to a folder that it is in.
        case circle
        /// A rule leaves out the path that it leads to.
        case leftOut(String)
    }

    /// Nil for none.
    init?(_ problems: [BundleProblem]) {
        guard let first = problems.first else { return nil }
        self = problems.count == 1 ? first : .several(problems)
    }

    /// The problems that it stands for.
    package var each: [BundleProblem] {
        if case .several(let problems) = self { problems.flatMap(\.each) } else { [self] }
    }
}

extension BundleProblem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .missing(let path): "\(path) does not exist"
        case .symbolicLink(let path): "\(path) is a symbolic link; a release holds files and folders only"
        case .special(let path): "\(path) is neither a file nor a folder"
        case .notAFolder(let path): "\(path) is not a folder"
        case .notAFile(let path): "\(path) is not a file"
        case .badName(let path, let problem): "\(path): its path in the bundle \(problem.rawValue)"
        case .notUTF8(let folder, let name): "\(folder) holds a name that is not UTF-8: \(ShellWord.quoted(name))"
        case .twins(let one, let other, let folder): "\(folder): \(other) equals \(one) after case folding"
        case .link(let link, .outside(let target)): "\(link) leads out of the bundle's folder, to \(target)"
        case .link(let link, .nowhere): "\(link) is a symbolic link that leads nowhere"
        case .link(let link, .circle): "\(link) is a symbolic link to a folder that it is in"
        case .link(let link, .leftOut(let path)): "\(link) leads to \(path), which is left out"
        case .reserved(let path): "\(path): paths below __patchline/ belong to the device"
        case .empty(let folder): "\(folder) holds no file"
        case .tooManyFiles(let folder, let limit): "\(folder) holds more than \(limit) files"
        case .noIndex(let index, let folder, let pages):
            "\(index) is not in \(folder)"
                + (pages.isEmpty ? "" : "; it has \(pages.map(\.text).joined(separator: ", "))")
        case .manifest(let label, let field, let rule): "\(label): \(field) \(rule)"
        case .gateway(let gateway, let why): "\(gateway.system)'s clients could not take it: \(why)"
        case .scriptNotUTF8(let path): "\(path) is not UTF-8; a script is text"
        case .noProgram(let path, let line, let column, let message):
            path.string + [line, line == nil ? nil : column].compactMap { $0.map { ":\($0)" } }.joined()
                + ": \(message)"
        case .noHost(let path, let error): "\(path): \(error)"
        case .releaseInside(let path): "\(path) is a signed release; it would be signed and published again as files"
        case .secret(let path, let kind): "\(path) holds \(kind.words); anyone could read it once it is published"
        case .archived(let path, let secret):
            "\(path): \(secret.entry) holds \(secret.kind.words); anyone could read it once it is published"
        case .exclusions(let path, let line, let rule): "\(path):\(line): the pattern \(rule)"
        case .ignoreFile(let path, let problem): "\(path) \(problem.rawValue)"
        case .changed(let path): "\(path) changed while it was read"
        case .several: groups.map(\.sentence).joined(separator: "; ")
        }
    }
}
