import PatchFormat
import Synchronization

/// Applies `transform` to all elements on all cores.
///
/// The results are in the order of the elements. Each core processes one element at a time, so a `transform` that runs a process
/// has one process per core. After an error, no later element is started.
///
/// - Parameter chunk: The number of elements per task: small enough to distribute the work evenly, large enough to keep the
///   overhead low.
/// - Throws: the error of the first failing element, in the order of the elements.
func mapOnAllCores<Element: Sendable, Output: Sendable, Failure: Error>(
    _ elements: [Element],
    chunk: Int = 16,
    progress start: ProgressStart = { _ in { _ in } },
    _ transform: @escaping @Sendable (Element) throws(Failure) -> Output
) async throws(Failure) -> [Output] {
    let progress = start(elements.count)
    let starts = Array(stride(from: 0, to: elements.count, by: chunk))
    let firstFailure = FirstFailure()
    let done = Done()
    var parts: [Int: Result<[Output], Failure>] = [:]
    await withTaskGroup(of: (Int, Result<[Output], Failure>).self) { group in
        for start in starts {
            let part = Array(elements[start..<min(start + chunk, elements.count)])
            group.addTask {
                guard start < firstFailure.place else { return (start, .success([])) }
                do throws(Failure) {
                    var outputs: [Output] = []
                    for element in part { outputs.append(try transform(element)) }
                    // Reported here, not where the parts are collected: that task only runs once the cores are idle.
                    progress(done.add(part.count))
                    return (start, .success(outputs))
                } catch {
                    firstFailure.note(start)
                    return (start, .failure(error))
                }
            }
        }
        for await (start, part) in group { parts[start] = part }
    }
    var outputs: [Output] = []
    outputs.reserveCapacity(elements.count)
    for start in starts {
        if let part = parts[start] { outputs += try part.get() }
    }
    return outputs
}

/// The number of finished elements.
private final class Done: Sendable {
    private let count = Atomic(0)

    /// - Returns: the new number.
    func add(_ number: Int) -> Int {
        count.wrappingAdd(number, ordering: .relaxed).newValue
    }
}

/// The earliest part that has failed so far.
private final class FirstFailure: Sendable {
    private let lowest = Atomic(Int.max)

    var place: Int { lowest.load(ordering: .relaxed) }

    func note(_ place: Int) {
        lowest.min(place, ordering: .relaxed)
    }
}
