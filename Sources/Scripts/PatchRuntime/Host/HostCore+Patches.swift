import PatchLanguage

extension HostCore {
    /// The patch id of code that a person evaluates in the console.
    static let console = PatchHost.console

    var report: PatchReport {
        PatchReport(
            rows: patches.map { .init(id: $0.id, version: $0.script.version, state: $0.state, failure: $0.failure) }
        )
    }

    func run(_ scripts: [PatchScript]) -> PatchReport {
        var seen: Set<String> = []
        let scripts = scripts.filter { seen.insert($0.id).inserted }
        let order = Dictionary(uniqueKeysWithValues: scripts.enumerated().map { ($1.id, $0) })
        let kept = patches.filter { patch in patch.state == .installed && scripts.contains(patch.script) }
        // Patches keep running only if their order is unchanged. Otherwise all start again.
        let keptOrder = kept.compactMap { order[$0.id] }
        let staying = keptOrder == keptOrder.sorted() ? Set(kept.map(\.id)) : []
        for patch in patches where !staying.contains(patch.id) { _ = withdraw(patch.id) }
        let before = Dictionary(uniqueKeysWithValues: kept.map { ($0.id, $0) })
        patches = scripts.map { script in
            staying.contains(script.id) ? before[script.id] ?? LoadedPatch(script: script) : LoadedPatch(script: script)
        }
        for (place, patch) in patches.enumerated() where staying.contains(patch.id) {
            language.run(\.place, engine.value(patch.id), engine.value(Double(place)))
        }
        for place in patches.indices { install(place) }
        return report
    }

    /// Evaluates a patch unless it was evaluated already.
    func install(_ place: Int) {
        guard !patches[place].hasBegun else { return }
        patches[place].hasBegun = true
        patches[place].isActive = true
        let patch = patches[place]
        do throws(PatchFailure) {
            let text = try patch.script.text()
            patches[place].map = SourceMap(ofScript: text)
            try evaluate(text, patch: patch.id, place: place)
            // A patch that includes others may have been withdrawn by a limit in the meantime.
            guard patches[place].failure != nil else { return patches[place].state = .installed }
            // An unhandled rejection of its own promise counts like a thrown error.
            _ = withdraw(patch.id)
            patches[place].state = .unusable
        } catch {
            patches[place].isActive = false
            patches[place].failure = error
            patches[place].state =
                switch error.kind {
                case .missing: .fileMissing
                case .altered: .fileAltered
                case .notUTF8, .tooLarge, .syntax, .thrown, .timeLimit, .memoryLimit, .wrongResult: .unusable
                }
            settings.failed(error)
        }
    }

    private func evaluate(_ text: String, patch: String, place: Int) throws(PatchFailure) {
        var isParsed = false
        do {
            try entered(for: patch) {
                let function = try engine.function(ofProgram: text, source: LoadedPatch.source(of: patch))
                isParsed = true
                language.run(\.begin, engine.value(patch), engine.value(Double(place)))
                defer { language.run(\.end) }
                _ = try engine.call(function)
            }
        } catch {
            _ = withdraw(patch)
            guard var exception = error as? JavaScriptException else {
                throw failure(JavaScriptException(message: "\(error)"), of: patch)
            }
            if !isParsed, exception.kind == .thrown, let line = exception.line {
                exception.column = engine.columnOfMistake(in: text, line: line)
            }
            throw failure(exception, of: patch, isParsed: isParsed)
        }
    }

    /// Evaluates a sibling before its turn: `include("other.js")`.
    func include(_ given: NativeArguments) throws -> JavaScriptValue {
        let name = text(given[0]) ?? ""
        guard let place = patches.firstIndex(where: { $0.id == name || $0.source == name }) else {
            throw PatchMisuse(description: "include: no sibling is named '\(name)'")
        }
        install(place)
        if let failure = patches[place].failure {
            throw PatchMisuse(description: "include: \(failure)")
        }
        return engine.undefined
    }

    func withdraw(_ id: String) -> Bool {
        for (number, call) in waiting where call.patch == id {
            waiting[number] = nil
            call.end(.failure(PatchCallError.withdrawn(patch: id)))
        }
        let wasThere = language.run(\.withdraw, engine.value(id)).map { engine.flag($0) } ?? false
        guard let place = patches.firstIndex(where: { $0.id == id }) else { return wasThere }
        patches[place].isActive = false
        if patches[place].state == .installed { patches[place].state = .waiting }
        return wasThere
    }

    func isRunning(_ id: String) -> Bool {
        if id == Self.console { return true }
        return patches.contains { $0.id == id && $0.isActive }
    }

    func version(of id: String) -> String? { patches.first { $0.id == id }?.script.version }

    /// The patch that threw an exception, according to its source or its stack.
    func patch(in exception: JavaScriptException) -> String? {
        let own = patches.first { $0.source == exception.source }
        return (own ?? patches.first { exception.stack?.contains("@\($0.source):") == true })?.id
    }

    /// Evaluates a text as the console.
    func evaluate(_ text: String) throws(PatchFailure) -> PatchValue {
        do {
            return try attempted(Self.console) {
                language.run(\.begin, engine.value(Self.console), engine.value(Double.greatestFiniteMagnitude))
                defer { language.run(\.end) }
                let value = try engine.evaluate(text, source: Self.console)
                return try engine.patchValue(value, objects: self)
            }
        } catch let failure as PatchFailure { throw failure } catch {
            throw failure(JavaScriptException(message: "\(error)"), of: Self.console)
        }
    }
}
