/// What many tests start from, made once in a process by the first that asks.
///
/// When it cannot be made, every test that asks fails. A failed `#require` alone would not do that: the library records it
/// in the test that made the fixture, and takes the same error in all others for one that it has recorded already.
public struct SharedFixture<Value: Sendable>: Sendable {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    private let making: Task<Value, any Error>

    public init(_ make: @escaping @Sendable () async throws -> Value) {
        making = Task {
            do { return try await make() } catch {
                throw Failure(description: "the shared fixture was not made: \(error)")
            }
        }
    }

    public var value: Value {
        get async throws { try await making.value }
    }
}
