import PatchFormat
import Synchronization

/// Applies `transform` to every element on all cores; results in the order of the elements.
///
/// At most one element a core is worked on at a time, so a `transform` that waits for a process has that many of them.
/// After an error no element behind it is begun.
///
/// - Parameter chunk: how many elements one task takes: few enough to share the work out evenly, enough that the sharing
///   costs nothing.
/// - Throws: the error of the first element that has one, whichever finished first.
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
                    // Here, not where parts are gathered: that task gets its turn once all cores have nothing better to do.
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

/// How many elements are done.
private final class Done: Sendable {
    private let count = Atomic(0)

    /// - Returns: how many they are now.
    func add(_ number: Int) -> Int {
        count.wrappingAdd(number, ordering: .relaxed).newValue
    }
}

/// The earliest part that failed so far.
private final class FirstFailure: Sendable {
    private let lowest = Atomic(Int.max)

    var place: Int { lowest.load(ordering: .relaxed) }

    func note(_ place: Int) {
        lowest.min(place, ordering: .relaxed)
    }
}
