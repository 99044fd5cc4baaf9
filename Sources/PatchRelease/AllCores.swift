/// How far long work has come: done, and of how many.
package typealias Progress = @Sendable (_ done: Int, _ total: Int) -> Void

/// Applies `transform` to every element on all cores; results in the order of the elements.
///
/// - Throws: the error of the first element that has one, whichever finished first.
func mapOnAllCores<Element: Sendable, Output: Sendable, Failure: Error>(
    _ elements: [Element], progress: Progress = { _, _ in },
    _ transform: @escaping @Sendable (Element) throws(Failure) -> Output
) async throws(Failure) -> [Output] {
    // Small enough to share the work out evenly, large enough that the sharing costs nothing.
    let chunk = 16
    let starts = Array(stride(from: 0, to: elements.count, by: chunk))
    var parts: [Int: Result<[Output], Failure>] = [:]
    progress(0, elements.count)
    await withTaskGroup(of: (Int, Result<[Output], Failure>).self) { group in
        for start in starts {
            let part = Array(elements[start..<min(start + chunk, elements.count)])
            group.addTask {
                do throws(Failure) {
                    var outputs: [Output] = []
                    for element in part { outputs.append(try transform(element)) }
                    return (start, .success(outputs))
                } catch {
                    return (start, .failure(error))
                }
            }
        }
        var done = 0
        for await (start, part) in group {
            parts[start] = part
            done += min(chunk, elements.count - start)
            progress(done, elements.count)
        }
    }
    var outputs: [Output] = []
    outputs.reserveCapacity(elements.count)
    for start in starts {
        if let part = parts[start] { outputs += try part.get() }
    }
    return outputs
}
