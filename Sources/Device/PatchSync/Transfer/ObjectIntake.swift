import PatchCompression
import PatchFetch
import PatchFormat
import PatchStore

/// One object on its way in: as it is, or in a compressed form, which is decoded as it comes and kept so that it goes on at its
/// byte.
struct ObjectIntake: ~Copyable {
    enum Failure: Error {
        case store(StoreError)
        case form(CompressionError)
    }

    private let objects: ObjectStore
    private var receiver: ObjectReceiver
    private var decoder: BodyDecoder
    /// Of the compressed form that comes.
    private var kept: KeptForm?
    /// Whether something of a form may lie beside the part.
    private var mayHaveForms: Bool
    /// Whether something was here when it began.
    let hadPart: Bool

    /// The compressed form that comes.
    var coding: CompressionFormat? { decoder.coding }
    /// How many bytes of the object are here.
    var received: Int { receiver.received }
    /// Of these, how many no later request asks for.
    var lasting: Int { kept.map { $0.isKept ? receiver.received : 0 } ?? receiver.received }
    /// Whether every byte is here, and only ``finish()`` remains.
    var isWhole: Bool { receiver.isComplete && (kept == nil ? receiver.expected.size > 0 : decoder.isComplete) }

    /// Goes on with what is here.
    ///
    /// - Parameter isPlain: whether only the object itself is asked for, and no compressed form.
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
        // A power cut may have damaged what was kept.
        kept = nil
        decoder = BodyDecoder.plain
        try objects.removeForms(of: receiver.expected.sha256)
        try receiver.begin(at: 0, validator: nil)
    }

    private init(_ receiver: consuming ObjectReceiver, _ kept: KeptForm?, in objects: ObjectStore, isPlain: Bool) {
        (self.objects, self.kept) = (objects, kept)
        hadPart = kept != nil || receiver.received > 0
        mayHaveForms = isPlain || kept != nil
        decoder = BodyDecoder.plain
        self.receiver = receiver
    }

    /// Where the next request goes on.
    var resume: FetchRequest.Resume? {
        if let kept, let validator = kept.validator {
            return .init(offset: kept.size, validator: validator, coding: kept.format)
        }
        return received > 0 ? .init(offset: received, validator: receiver.validator) : nil
    }

    /// An answer begins.
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

    /// Takes the next bytes as they travel.
    ///
    /// - Returns: how many bytes of the object came of them.
    mutating func append(_ chunk: [UInt8]) throws(Failure) -> Int {
        do throws(StoreError) { try kept?.append(chunk) } catch { throw .store(error) }
        let before = receiver.received
        try decoder.take(chunk, into: &receiver)
        return receiver.received - before
    }

    /// The answer came to its end.
    func end() throws(Failure) {
        do throws(CompressionError) { try decoder.finish() } catch { throw .form(error) }
    }

    /// The answer broke off: of a form that is not kept nothing stays.
    func breakOff() throws(StoreError) {
        if let kept, !kept.isKept { try objects.removePart(of: receiver.expected) }
    }

    /// To be compared with its entry; nothing of a form is needed any more.
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

    /// Takes what was kept of a form.
    ///
    /// - Returns: why it cannot be gone on with.
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
