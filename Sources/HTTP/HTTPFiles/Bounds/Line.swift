/// A line of numbered things: the one that came first is known at once, and each can leave it from wherever it stands.
///
/// Who stands next to whom is kept in ``LineLinks``, for many lines together: a number stands in one of them at most.
struct Line {
    private(set) var first: Int?
    private var last: Int?

    mutating func append(_ number: Int, _ links: inout LineLinks) {
        links[number] = (last, nil)
        if let last { links[last].after = number } else { first = number }
        last = number
    }

    /// - Precondition: it stands in this line.
    mutating func remove(_ number: Int, _ links: inout LineLinks) {
        let (before, after) = links[number]
        if let before { links[before].after = after } else { first = after }
        if let after { links[after].before = before } else { last = before }
        links[number] = (nil, nil)
    }
}

struct LineLinks {
    private var links: [(before: Int?, after: Int?)] = []

    /// For one number more.
    mutating func grow() {
        links.append((nil, nil))
    }

    subscript(number: Int) -> (before: Int?, after: Int?) {
        get { links[number] }
        _modify { yield &links[number] }
    }
}
