/// What a file of the store must be, where it is well formed.
enum StoreRule {
    static let name = "is not what its name says"
    static let readBack = "would not be read as it was written"
    static let selection = "names a selection that it does not have"
}
