package import PatchFormat

/// Which of the server's records one is: its collection, and its name there.
package struct RecordKey: Hashable, Sendable, CustomStringConvertible {
    package let collection: String
    /// Records of a collection are in the order of the bytes of their names.
    package let name: String

    package init(_ collection: String, _ name: String) {
        self.collection = collection
        self.name = name
    }

    package var description: String { "\(collection)/\(name)" }

    /// A number as a name, or a part of one: sixteen digits, so that the order of names is that of numbers.
    package static func digits(_ number: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, 16 - digits.count)) + digits
    }
}

/// What is written under a key, and how often it was written.
package struct Record: Equatable, Sendable {
    package let key: RecordKey
    /// 1 for the first, and one more with each change.
    package let revision: Int
    package let value: JSON

    package init(key: RecordKey, revision: Int, value: JSON) {
        self.key = key
        self.revision = revision
        self.value = value
    }
}

/// One step of a commit: compare, and swap.
package struct RecordChange: Equatable, Sendable {
    package enum Expectation: Equatable, Sendable {
        /// There is no record of this name.
        case absent
        /// The record is the one that was read.
        case revision(Int)
    }

    package let key: RecordKey
    package let expected: Expectation
    /// Nil removes the record.
    package let value: JSON?

    private init(key: RecordKey, expected: Expectation, value: JSON?) {
        self.key = key
        self.expected = expected
        self.value = value
    }

    package static func insert(_ key: RecordKey, _ value: JSON) -> RecordChange {
        RecordChange(key: key, expected: .absent, value: value)
    }

    package static func replace(_ record: Record, with value: JSON) -> RecordChange {
        RecordChange(key: record.key, expected: .revision(record.revision), value: value)
    }

    package static func remove(_ record: Record) -> RecordChange {
        RecordChange(key: record.key, expected: .revision(record.revision), value: nil)
    }
}

/// Part of a collection, in order.
package struct RecordRange: Equatable, Sendable {
    package enum Order: Equatable, Sendable {
        case ascending, descending
    }

    package let collection: String
    /// Names that begin so.
    package let prefix: String
    /// Only names beyond this one, in the order asked for.
    package let after: String?
    package let order: Order
    package let limit: Int
    /// Bytes of values after which no record is added; the first one always is.
    package let bytes: Int

    package init(
        _ collection: String,
        prefix: String = "",
        after: String? = nil,
        order: Order = .ascending,
        limit: Int,
        bytes: Int = .max
    ) {
        self.collection = collection
        self.prefix = prefix
        self.after = after
        self.order = order
        self.limit = limit
        self.bytes = bytes
    }

    /// What comes after a record of it.
    func beyond(_ record: Record) -> RecordRange {
        RecordRange(collection, prefix: prefix, after: record.key.name, order: order, limit: 1)
    }
}

/// A part of a collection that fits into an answer.
package struct RecordPage: Equatable, Sendable {
    package let records: [Record]
    /// Whether others come after the last one.
    package let hasMore: Bool
}
