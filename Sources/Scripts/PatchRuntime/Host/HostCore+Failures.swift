extension HostCore {
    /// Converts an exception into a patch failure.
    ///
    /// Its location is mapped to the original file.
    func failure(_ exception: JavaScriptException, of patch: String, isParsed: Bool = true) -> PatchFailure {
        let kind: PatchFailure.Kind =
            switch exception.kind {
            case .thrown: isParsed ? .thrown : .syntax
            case .stopped(.time): .timeLimit
            case .stopped(.memory): .memoryLimit
            }
        let exception = exception.outsideLanguage
        let source = patches.first { $0.source == exception.source }
        var (file, line, column) = (exception.source, exception.line, exception.column)
        if source != nil, isParsed, let atLine = line { column = column.map { engine.column($0, line: atLine) } }
        if let map = source?.map, let atLine = line, let mapped = map.original(line: atLine, column: column ?? 1) {
            (file, line, column) = (mapped.file, mapped.line, mapped.column)
        }
        return PatchFailure(
            kind: kind,
            patch: patch,
            version: version(of: patch),
            message: exception.message,
            file: file,
            line: line,
            column: column,
            stack: exception.stack
        )
    }

    /// Stores a failure with its patch and reports it to the app.
    @discardableResult
    func note(_ failure: PatchFailure, of patch: String) -> PatchFailure {
        if let place = patches.firstIndex(where: { $0.id == patch }) {
            patches[place].failure = failure
            if failure.kind == .timeLimit || failure.kind == .memoryLimit { patches[place].state = .unusable }
        }
        settings.failed(failure)
        return failure
    }
}
