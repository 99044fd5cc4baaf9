extension Optional: PatchConvertible where Wrapped: PatchConvertible {
    public static var patchKind: String { "\(Wrapped.patchKind) or null" }

    public static func from(_ value: PatchValue) throws(PatchMismatch) -> Wrapped? {
        if case .null = value { return nil }
        do throws(PatchMismatch) {
            return try Wrapped.from(value)
        } catch { throw PatchMismatch(wanted: patchKind, found: error.found) }
    }

    public var patchValue: PatchValue {
        get throws(PatchMismatch) { try self?.patchValue ?? .null }
    }
}

extension Array: PatchConvertible where Element: PatchConvertible {
    public static var patchKind: String { "an array" }

    public static func from(_ value: PatchValue) throws(PatchMismatch) -> [Element] {
        guard case .array(let values) = value else { throw PatchMismatch(wanted: patchKind, found: value) }
        var elements: [Element] = []
        elements.reserveCapacity(values.count)
        for value in values { elements.append(try Element.from(value)) }
        return elements
    }

    public var patchValue: PatchValue {
        get throws(PatchMismatch) {
            var values: [PatchValue] = []
            values.reserveCapacity(count)
            for element in self { values.append(try element.patchValue) }
            return .array(values)
        }
    }
}

extension Dictionary: PatchConvertible where Key == String, Value: PatchConvertible {
    public static var patchKind: String { "an object" }

    public static func from(_ value: PatchValue) throws(PatchMismatch) -> [String: Value] {
        guard case .dictionary(let values) = value else { throw PatchMismatch(wanted: patchKind, found: value) }
        var members: [String: Value] = [:]
        members.reserveCapacity(values.count)
        for (name, value) in values { members[name] = try Value.from(value) }
        return members
    }

    public var patchValue: PatchValue {
        get throws(PatchMismatch) {
            var values: [String: PatchValue] = [:]
            values.reserveCapacity(count)
            for (name, value) in self { values[name] = try value.patchValue }
            return .dictionary(values)
        }
    }
}
