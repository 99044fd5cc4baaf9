/// A Swift caller that waits for a patch's promise.
final class WaitingCall {
    let patch: String
    private var continuation: CheckedContinuation<(PatchValue, String)?, any Error>?

    init(_ continuation: CheckedContinuation<(PatchValue, String)?, any Error>, patch: String) {
        self.continuation = continuation
        self.patch = patch
    }

    /// Resumes the caller; later calls have no effect.
    func end(_ result: Result<(PatchValue, String)?, any Error>) {
        continuation?.resume(with: result)
        continuation = nil
    }
}

extension HostCore {
    /// Calls the patch that replaces an async method.
    func callAsync(
        _ slot: MethodSlot,
        on object: (any AnyObject & Sendable)?,
        _ values: [PatchValue],
        _ continuation: CheckedContinuation<(PatchValue, String)?, any Error>
    ) {
        guard let (method, patch) = slot.patched else { return continuation.resume(returning: nil) }
        nextWaiting += 1
        let (number, call) = (nextWaiting, WaitingCall(continuation, patch: patch))
        waiting[number] = call
        do {
            try attempted(patch) {
                let take = engine.nativeFunction { [unowned self] _, given in
                    end(number, patch) { try engine.patchValue(given[0] ?? engine.undefined, objects: self) }
                }
                let refuse = engine.nativeFunction { [unowned self] _, given in
                    end(number, patch) { throw engine.exception(thrown: given[0] ?? engine.undefined) }
                }
                let object = object.map { proxy(for: $0) } ?? slot.staticTarget ?? engine.undefined
                // One by one, because the garbage collector does not search Swift arrays.
                _ = try engine.call(language.awaited.value, count: 4 + values.count) { place in
                    switch place {
                    case 0: method.value
                    case 1: object
                    case 2: take
                    case 3: refuse
                    default: engine.value(values[place - 4], objects: self)
                    }
                }
            }
        } catch {
            waiting[number] = nil
            call.end(.failure(error))
        }
    }

    private func end(_ number: Int, _ patch: String, _ value: () throws -> PatchValue) -> JavaScriptValue {
        guard let call = waiting.removeValue(forKey: number) else { return engine.undefined }
        do {
            let value = try attempted(patch, value)
            call.end(.success((value, patch)))
        } catch { call.end(.failure(error)) }
        return engine.undefined
    }

    /// A promise for the result of a host's async method.
    func promise(_ work: @escaping @Sendable () async throws -> PatchValue) -> JavaScriptValue {
        let (promise, take, refuse) = engine.makePromise()
        let (held, heldRefusal, reference) = (engine.hold(take), engine.hold(refuse), reference)
        let owner = language.text(\.owner)
        // The task does not keep the host alive. It does nothing if the host no longer exists.
        Task {
            do {
                let value = try await work()
                (reference.host as? PatchHost)?.keep(held, .success(value), for: owner)
            } catch { (reference.host as? PatchHost)?.keep(heldRefusal, .failure(error), for: owner) }
        }
        return promise
    }
}

extension PatchHost {
    /// Settles a promise, and runs the code that waits for it.
    fileprivate func keep(_ end: HeldValue, _ result: Result<PatchValue, any Error>, for owner: String?) {
        withCore { core in
            core.attempt(owner) {
                let value =
                    switch result {
                    case .success(let value): core.engine.value(value, objects: core)
                    case .failure(let error): core.engine.errorObject(for: error)
                    }
                _ = try core.engine.call(end.value, value)
            }
        }
    }
}
