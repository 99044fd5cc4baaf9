extension HostCore {
    /// Calls the patch that replaces a method.
    ///
    /// Returns nil if it is no longer patched.
    func call(
        _ slot: MethodSlot,
        on object: (any AnyObject & Sendable)?,
        _ values: [PatchValue]
    ) throws -> (PatchValue, patch: String)? {
        guard let (method, patch) = slot.patched else { return nil }
        let value = try attempted(patch) {
            let result = try engine.call(
                method.value,
                this: object.map { proxy(for: $0) } ?? slot.staticTarget,
                count: values.count
            ) { engine.value(values[$0], objects: self) }
            return try engine.patchValue(result, objects: self)
        }
        return (value, patch)
    }

    func call(_ function: HeldValue, owner: String?, _ values: [PatchValue]) throws -> PatchValue {
        if let owner, !isRunning(owner) { throw PatchCallError.withdrawn(patch: owner) }
        return try attempted(owner) {
            let result = try engine.call(function.value, count: values.count) {
                engine.value(values[$0], objects: self)
            }
            return try engine.patchValue(result, objects: self)
        }
    }

    /// Converts a patch's result to the result type of the host's method.
    func read<Result: PatchConvertible>(
        _ value: PatchValue,
        as _: Result.Type,
        method: String,
        patch: String
    ) throws -> Result {
        do throws(PatchMismatch) { return try Result.from(value) } catch {
            throw note(wrongResult(error, of: patch, method: method), of: patch)
        }
    }

    private func wrongResult(_ mismatch: PatchMismatch, of patch: String, method: String) -> PatchFailure {
        PatchFailure(
            kind: .wrongResult,
            patch: patch,
            version: version(of: patch),
            message: "its result for \(method) \(mismatch)",
            file: nil,
            line: nil,
            column: nil,
            stack: nil
        )
    }

    /// Runs scripts and attributes failures to the patch that caused them.
    ///
    /// A host error that passed through a patch is thrown unchanged.
    func attempted<Result>(_ patch: String?, _ body: () throws -> Result) throws -> Result {
        do {
            return try entered(for: patch, body)
        } catch let exception as JavaScriptException {
            if let error = exception.hostError { throw error.error }
            let id = exception.patch ?? patch ?? Self.console
            let failure = failure(exception, of: id)
            // A stop is reported after the patch is withdrawn.
            if case .thrown = exception.kind { note(failure, of: id) }
            throw failure
        } catch let mismatch as PatchMismatch {
            let id = patch ?? Self.console
            throw note(wrongResult(mismatch, of: id, method: "its caller"), of: id)
        }
    }

    /// Runs scripts without a caller that waits for the result.
    ///
    /// Failures are only reported.
    func attempt(_ patch: String?, _ body: () throws -> Void) {
        do { try attempted(patch, body) } catch is PatchFailure {} catch {
            let id = patch ?? Self.console
            note(failure(JavaScriptException(message: "\(error)"), of: id), of: id)
        }
    }

    /// Reports an unhandled promise rejection.
    func rejected(_ reason: JavaScriptValue) {
        let exception = engine.exception(thrown: reason)
        let id = exception.patch ?? patch(in: exception)
        if let id { note(failure(exception, of: id), of: id) }
    }
}
