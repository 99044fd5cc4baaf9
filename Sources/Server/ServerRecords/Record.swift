package import PatchFormat

/// The key of a record: its collection and its name.
package struct RecordKey: Hashable, Sendable, CustomStringConvertible {
    package let collection: String
    /// The name in the collection.
    ///
    /// Records are ordered by the bytes of their names.
    package let name: String

    package init(_ collection: String, _ name: String) {
        self.collection = collection
        self.name = name
    }

    package var description: String { "\(collection)/\(name)" }

    /// A number as part of a name: sixteen digits, so that names sort like numbers.
    package static func digits(_ number: Int) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, 16 - digits.count)) + digits
    }
}

/// The value of a key and the number of its changes.
package struct Record: Equatable, Sendable {
    package let key: RecordKey
    /// The revision: 1 at first, incremented with each change.
    package let revision: Int
    package let value: JSON

    package init(key: RecordKey, revision: Int, value: JSON) {
        self.key = key
        self.revision = revision
        self.value = value
    }
}

/// One step of a commit: compare and swap.
package struct RecordChange: Equatable, Sendable {
    package enum Expectation: Equatable, Sendable {
        /// The record does not exist.
        case absent
        /// The record has the revision that was read.
        case revision(Int)
    }

    package let key: RecordKey
    package let expected: Expectation
    /// The new value, or nil to remove the record.
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

/// A part of a collection, in order.
package struct RecordRange: Equatable, Sendable {
    package enum Order: Equatable, Sendable {
        case ascending, descending
    }

    package let collection: String
    /// The beginning of the names.
    package let prefix: String
    /// Only names after this one, in the requested order.
    package let after: String?
    package let order: Order
    package let limit: Int
    /// The size of values in bytes after which no record is added.
    ///
    /// The first record is always included.
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

    /// The range after a record of this one.
    func beyond(_ record: Record) -> RecordRange {
        RecordRange(collection, prefix: prefix, after: record.key.name, order: order, limit: 1)
    }
}

/// A part of a collection that fits into a response.
package struct RecordPage: Equatable, Sendable {
    package let records: [Record]
    /// Whether further records follow the last one.
    package let hasMore: Bool
}
