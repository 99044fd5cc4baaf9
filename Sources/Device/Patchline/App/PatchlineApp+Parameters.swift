import PatchFormat

extension PatchlineApp {
    /// Named values that the operator sends to every app of a channel, without a release.
    public struct Parameters: Equatable, Sendable {
        public enum Value: Equatable, Sendable {
            case text(String)
            case integer(Int)
            case bool(Bool)
        }

        public let values: [String: Value]

        /// The text with this name, or nil if it does not exist or has another type.
        public func text(_ name: String) -> String? {
            if case .text(let text) = values[name] { text } else { nil }
        }

        /// The integer with this name, or nil if it does not exist or has another type.
        public func integer(_ name: String) -> Int? {
            if case .integer(let number) = values[name] { number } else { nil }
        }

        /// The Boolean with this name, or nil if it does not exist or has another type.
        public func bool(_ name: String) -> Bool? {
            if case .bool(let bool) = values[name] { bool } else { nil }
        }
    }
}

extension PatchlineApp.Parameters {
    init(_ parameters: OnlineParameters) {
        values = Dictionary(parameters.values.map { ($0.key.text, Value($0.value)) }) { first, _ in first }
    }
}

extension PatchlineApp.Parameters.Value {
    fileprivate init(_ value: ParameterValue) {
        switch value {
        case .text(let text): self = .text(text.text)
        case .integer(let number): self = .integer(number)
        case .bool(let bool): self = .bool(bool)
        }
    }
}
