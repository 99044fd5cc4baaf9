package import PatchFormat
import Glibc

/// Names given to a program that are not UTF-8, as in folders made by older systems.
///
/// Swift reads them with replacement characters, so the program would use another file than the given one.
package struct UnreadableNames: Equatable, Sendable {
    /// The first such word of the command line, and the first such variable, with replacement characters.
    let argument: String?
    let variable: String?
    let isFolder: Bool

    /// - Parameters:
    ///   - arguments: The words of the command line, as the system stores them.
    ///   - environment: The variables that contain file names, by their names.
    ///   - folder: The working directory.
    package init(arguments: [[UInt8]], environment: [String: [UInt8]], folder: [UInt8]) {
        func first(_ words: [[UInt8]]) -> String? {
            words.first { String(validating: $0, as: UTF8.self) == nil }.map { String(decoding: $0, as: UTF8.self) }
        }
        argument = first(arguments)
        variable = environment.filter { first([$0.value]) != nil }.map(\.key).min()
        isFolder = first([folder]) != nil
    }

    package var failure: Failure? {
        let rule = "file names must be UTF-8"
        if let argument {
            return Failure("the argument '\(argument)' is not UTF-8", hint: "\(rule): \(Self.remedy)", code: .usage)
        }
        if let variable {
            return Failure("the variable \(variable) is not UTF-8", hint: "\(rule): \(Self.remedy)", code: .usage)
        }
        guard isFolder else { return nil }
        return Failure(
            "the name of the working directory is not UTF-8",
            hint: "\(rule): start this in another folder, and name paths from / on.",
            code: .usage
        )
    }

    private static let remedy = "rename the file or folder."
}

extension UnreadableNames {
    private static let variables = ["PATCHSYNC_STORE", "PATCHSRV_CONFIG", "PATCHSRV_DATA", "PKCS11_MODULE_PATH"]

    static var ofThisProcess: UnreadableNames {
        let folder = unsafe getcwd(nil, 0)
        defer { unsafe free(folder) }
        let environment = variables.map { name in unsafe (name, bytes(of: getenv(name))) }
        return unsafe UnreadableNames(
            arguments: (0..<Int(CommandLine.argc)).map { unsafe bytes(of: CommandLine.unsafeArgv[$0]) },
            environment: Dictionary(environment) { first, _ in first },
            folder: bytes(of: folder)
        )
    }

    private static func bytes(of text: UnsafeMutablePointer<CChar>?) -> [UInt8] {
        guard let text = unsafe text else { return [] }
        return unsafe Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
    }
}
