/// A change that is requested by a form.
enum FolderChange: Equatable, Sendable {
    enum Kind: String, Sendable {
        case move, create, delete
    }

    case move(ItemPath, to: ItemPath)
    /// A new folder in an existing one.
    case create(ItemPath)
    /// A file, or a folder with all of its contents.
    case delete(ItemPath)

    /// - Parameter form: The URL-encoded form.
    init(_ kind: Kind, form: [UInt8]) throws(UploaderError) {
        let fields: FormFields
        do throws(FormFault) { fields = try FormFields(form) } catch { throw .form(error) }
        switch kind {
        case .move:
            let (old, new) = (try fields.path("oldPath"), try fields.path("newPath"))
            guard !old.isRoot, !new.isRoot else { throw .isRoot }
            // A move onto itself is allowed: the item receives the next free name.
            guard new == old || !new.isWithin(old) else { throw .intoItself(old) }
            self = .move(old, to: new)
        case .create: self = .create(try Self.notRoot(fields))
        case .delete: self = .delete(try Self.notRoot(fields))
        }
    }

    private static func notRoot(_ fields: FormFields) throws(UploaderError) -> ItemPath {
        let path = try fields.path("path")
        guard !path.isRoot else { throw .isRoot }
        return path
    }
}
