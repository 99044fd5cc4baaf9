import Linux
import PatchFormat
import PatchLanguage
import PatchStore
import SystemPackage

/// A script of a description, with the field for its mistakes.
struct DescribedScript: Sendable {
    /// `patches[0].file`.
    let field: String
    let path: FilePath
    /// Nil for a script that runs only in pages, where no host interface applies.
    let textForPrograms: String?
}

/// Checks all scripts of a description together: their syntax, and whether their hosts expose the names they use.
struct ScriptInspection: Sendable {
    let parsing: ScriptParsing
    /// Documents of host interfaces, relative to ``folder``.
    let hosts: [AssetPath]
    let folder: FilePath
    let places: DescriptionPositions
    let files: any FileOperations

    struct Findings: Sendable {
        var mistakes: [(DescriptionError, BundleProblem)] = []
        var warnings: [DescriptionError] = []
    }

    func findings(in scripts: [DescribedScript]) throws(SigningError) -> Findings {
        var findings = Findings()
        try parse(scripts, &findings)
        let interfaces = try interfaces(&findings)
        guard !interfaces.isEmpty else { return findings }
        let named = scripts.compactMap { script in script.textForPrograms.map { (script, names: ScriptNames($0)) } }
        for (script, names) in named {
            for name in names.unknown(to: interfaces, besides: named.map(\.names)) {
                findings.warnings.append(places.error(script.field, ": \(script.path): \(name)"))
            }
        }
        return findings
    }

    private func parse(_ scripts: [DescribedScript], _ findings: inout Findings) throws(SigningError) {
        guard !scripts.isEmpty else { return }
        do throws(ChildProcessError) {
            switch parsing {
            case .none: return
            case .notInstalled:
                let rule = ": no script was parsed: patchscript is neither beside patchsign nor in PATH"
                findings.warnings.append(places.error("patches", rule))
            case .by(let parser):
                let mistakes = try parser.mistakes(in: scripts.map(\.path))
                for script in scripts {
                    guard let mistake = mistakes[script.path] else { continue }
                    let problem = BundleProblem.noProgram(
                        script.path,
                        line: mistake.line,
                        column: mistake.column,
                        message: mistake.message
                    )
                    findings.mistakes.append((places.error(script.field, ": \(problem)"), problem))
                }
            }
        } catch { findings.warnings.append(places.error("patches", ": patchscript parsed no script: \(error)")) }
    }

    private func interfaces(_ findings: inout Findings) throws(SigningError) -> [HostInterface] {
        var interfaces: [HostInterface] = []
        for (index, host) in hosts.enumerated() {
            do throws(SigningError) {
                let path = try files.find(host, below: folder, .file)
                let bytes = try onDisk { () throws(FileError) in try files.read(path, limit: HostInterface.largest) }
                do throws(HostInterfaceError) {
                    interfaces.append(try HostInterface(parsing: (try? FileText.utf8(bytes)) ?? bytes))
                } catch {
                    throw .bundle(.noHost(path, error))
                }
            } catch .bundle(let problem) {
                findings.mistakes.append((places.error("hosts[\(index)]", ": \(problem)"), problem))
            }
        }
        return interfaces
    }
}

extension ScriptInspection {
    /// - Throws: the first mistake.
    func warnings(about scripts: [DescribedScript]) throws(SigningError) -> [DescriptionError] {
        let findings = try findings(in: scripts)
        if let (place, problem) = findings.mistakes.first { throw .described(place, problem) }
        return findings.warnings
    }
}
