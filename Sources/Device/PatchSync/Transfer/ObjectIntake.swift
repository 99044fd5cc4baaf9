import PatchCompression
import PatchFetch
import PatchFormat
import PatchStore

/// The reception of one object, plain or in a compressed form.
///
/// A compressed form is decoded as it arrives, and is stored so that a later request can continue at its byte.
struct ObjectIntake: ~Copyable {
    enum Failure: Error {
        case store(StoreError)
        case form(CompressionError)
    }

    private let objects: ObjectStore
    private var receiver: ObjectReceiver
    private var decoder: BodyDecoder
    /// The stored bytes of the compressed form.
    private var kept: KeptForm?
    /// Whether bytes of a compressed form may be stored besides the partial file.
    private var mayHaveForms: Bool
    /// Whether bytes were stored when it began.
    let isResumed: Bool

    /// The compressed form in the answer.
    var coding: CompressionFormat? { decoder.coding }
    /// The number of stored bytes of the object.
    var received: Int { receiver.received }
    /// The number of stored bytes that no later request asks for again.
    var lasting: Int { kept.map { $0.isKept ? receiver.received : 0 } ?? receiver.received }
    /// Whether all bytes are stored, so that only ``finish()`` remains.
    var isWhole: Bool { receiver.isComplete && (kept == nil ? receiver.expected.size > 0 : decoder.isComplete) }

    /// Continues with the stored bytes.
    ///
    /// - Parameter isPlain: Whether only the plain object is requested, and no compressed form.
    static func begin(
        _ expected: ExpectedFile,
        into objects: ObjectStore,
        isPlain: Bool
    ) throws(StoreError) -> ObjectIntake {
        let kept = isPlain ? nil : try objects.keptForm(of: expected)
        var intake = ObjectIntake(try objects.receive(expected), kept, in: objects, isPlain: isPlain)
        try intake.decodeKept()
        return intake
    }

    private mutating func decodeKept() throws(StoreError) {
        guard let form = kept, let failure = decoder.begin(with: form, of: &receiver) else { return }
        if case .store(let error) = failure { throw error }
        // A power cut may have damaged the stored form.
        kept = nil
        decoder = BodyDecoder.plain
        try objects.removeForms(of: receiver.expected.sha256)
        try receiver.begin(at: 0, validator: nil)
    }

    private init(_ receiver: consuming ObjectReceiver, _ kept: KeptForm?, in objects: ObjectStore, isPlain: Bool) {
        (self.objects, self.kept) = (objects, kept)
        isResumed = kept != nil || receiver.received > 0
        mayHaveForms = isPlain || kept != nil
        decoder = BodyDecoder.plain
        self.receiver = receiver
    }

    /// Where the next request continues.
    var resume: FetchRequest.Resume? {
        if let kept, let validator = kept.validator {
            return .init(offset: kept.size, validator: validator, coding: kept.format)
        }
        return received > 0 ? .init(offset: received, validator: receiver.validator) : nil
    }

    /// Begins an answer.
    mutating func begin(_ head: FetchedHead) throws(Failure) {
        if kept != nil, head.offset > 0 { return }
        let expected = receiver.expected
        if kept != nil {
            do throws(StoreError) { try objects.removeForms(of: expected.sha256) } catch { throw .store(error) }
        }
        kept = head.coding.map { objects.beginForm($0, validator: head.validator, of: expected) }
        decoder = try BodyDecoder(of: head.coding, limit: expected.size)
        let validator = head.coding == nil ? head.validator : nil
        do throws(StoreError) {
            try receiver.begin(at: head.offset, validator: validator)
        } catch { throw .store(error) }
    }

    /// Adds the next bytes as transferred.
    ///
    /// - Returns: the number of bytes of the object that were decoded from them.
    mutating func append(_ chunk: [UInt8]) throws(Failure) -> Int {
        do throws(StoreError) { try kept?.append(chunk) } catch { throw .store(error) }
        let before = receiver.received
        try decoder.take(chunk, into: &receiver)
        return receiver.received - before
    }

    /// Ends a complete answer.
    func end() throws(Failure) {
        do throws(CompressionError) { try decoder.finish() } catch { throw .form(error) }
    }

    /// Ends an interrupted answer.
    ///
    /// A compressed form that is not kept is removed.
    func breakOff() throws(StoreError) {
        if let kept, !kept.isKept { try objects.removePart(of: receiver.expected) }
    }

    /// Removes the compressed forms.
    ///
    /// The caller then compares the object with its entry.
    consuming func finish() throws(StoreError) -> ObjectReceiver {
        if mayHaveForms || kept?.isKept == true { try objects.removeForms(of: receiver.expected.sha256) }
        return receiver
    }
}

extension BodyDecoder {
    fileprivate static var plain: BodyDecoder {
        guard let plain = try? BodyDecoder(nil, limit: 0) else { preconditionFailure("a plain file needs no tables") }
        return plain
    }

    fileprivate init(of coding: CompressionFormat?, limit: Int) throws(ObjectIntake.Failure) {
        do throws(CompressionError) { try self.init(coding, limit: limit) } catch { throw .form(error) }
    }

    /// Decodes the stored bytes of a compressed form.
    ///
    /// - Returns: why the form cannot be continued.
    fileprivate mutating func begin(
        with kept: KeptForm,
        of receiver: inout ObjectReceiver
    ) -> ObjectIntake.Failure? {
        let reader: any FileReader
        do throws(StoreError) {
            try receiver.begin(at: 0, validator: nil)
            reader = try kept.reader()
        } catch { return .store(error) }
        do throws(ObjectIntake.Failure) {
            self = try BodyDecoder(of: kept.format, limit: receiver.expected.size)
            while true {
                let piece: [UInt8]?
                do throws(FileError) { piece = try reader.next() } catch { return .store(.file(error)) }
                guard let piece else { return nil }
                try take(piece, into: &receiver)
            }
        } catch { return error }
    }

    fileprivate mutating func take(
        _ chunk: [UInt8],
        into receiver: inout ObjectReceiver
    ) throws(ObjectIntake.Failure) {
        feed(chunk)
        while true {
            let piece: [UInt8]?
            do throws(CompressionError) { piece = try next() } catch { throw .form(error) }
            guard let piece else { return }
            do throws(StoreError) { try receiver.append(piece) } catch { throw .store(error) }
        }
    }
}
