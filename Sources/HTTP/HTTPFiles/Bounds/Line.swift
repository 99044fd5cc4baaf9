/// A queue of numbers.
///
/// Reading the first number and removing any number take constant time.
///
/// The neighbours of each number are stored in ``LineLinks``, shared by many queues. A number is in at most one of them.
struct Line {
    private(set) var first: Int?
    private var last: Int?

    mutating func append(_ number: Int, _ links: inout LineLinks) {
        links[number] = (last, nil)
        if let last { links[last].after = number } else { first = number }
        last = number
    }

    /// - Precondition: The number is in this queue.
    mutating func remove(_ number: Int, _ links: inout LineLinks) {
        let (before, after) = links[number]
        if let before { links[before].after = after } else { first = after }
        if let after { links[after].before = before } else { last = before }
        links[number] = (nil, nil)
    }
}

struct LineLinks {
    private var links: [(before: Int?, after: Int?)] = []

    /// Adds links for one more number.
    mutating func grow() {
        links.append((nil, nil))
    }

    subscript(number: Int) -> (before: Int?, after: Int?) {
        get { links[number] }
        _modify { yield &links[number] }
    }
}
