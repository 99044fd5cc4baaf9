/// Reads the arguments of a script's call as the types of the method.
struct ArgumentReading {
    /// The method's name, such as `CartController.add`.
    let method: String
    let values: [PatchValue]
    let wanted: Int
    private var place = 0

    init(_ values: [PatchValue], wanted: Int, method: String) throws(PatchMisuse) {
        (self.values, self.wanted, self.method) = (values, wanted, method)
        guard values.count <= wanted else { throw misuse }
    }

    mutating func next<Value: PatchConvertible>(_: Value.Type) throws(PatchMisuse) -> Value {
        defer { place += 1 }
        do throws(PatchMismatch) {
            return try Value.from(place < values.count ? values[place] : .null)
        } catch {
            guard place < values.count else { throw misuse }
            throw PatchMisuse(description: "\(method): argument \(place + 1) \(error)")
        }
    }

    private var misuse: PatchMisuse {
        let noun = wanted == 1 ? "1 argument" : "\(wanted) arguments"
        return PatchMisuse(description: "\(method) expects \(noun) but received \(values.count)")
    }
}

extension PatchMember {
    /// The object that a script called the method on.
    static func object<Object>(_ object: AnyObject?, as _: Object.Type, method: String) throws(PatchMisuse) -> Object {
        guard let object = object as? Object else {
            throw PatchMisuse(description: "\(method) must be called on a \(Object.self)")
        }
        return object
    }
}
