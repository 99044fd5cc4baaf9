package import PatchFormat

extension Diagnosis {
    /// Writes each finding as a line, with its remedy on another line.
    package func write(to console: Console) {
        for line in lines { line.write(to: console) }
    }

    /// The exit code of the command: a fault is `refused`, a warning is `due`.
    package var code: ResultCode {
        switch verdict {
        case .ok: .done
        case .warning: .due
        case .fault: .refused
        }
    }
}

extension Diagnosis.Line {
    fileprivate func write(to console: Console) {
        let mark: String =
            switch verdict {
            case .ok: console.styled("ok", .dim)
            case .warning: console.styled("warning", .bold)
            case .fault: console.styled("fault", .bold, .red)
            }
        // A code for searching is shown if the finding needs an action.
        let name = verdict == .ok ? "" : code.map { " [\($0)]" } ?? ""
        console.line("\(mark)  \(printable(subject)): \(printable(finding))\(name)")
        if let hint { console.line("  \(console.styled("hint:", .cyan)) \(printable(hint))") }
    }
}
