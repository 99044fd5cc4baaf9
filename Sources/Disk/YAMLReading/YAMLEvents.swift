import CYAML

/// The events that libyaml reads from a text, one by one, as values.
@safe final class YAMLEvents {
    struct Event {
        enum Kind {
            case nothing
            case document
            case alias(String)
            case scalar(YAMLTree.Scalar, anchor: String?)
            case sequenceStart(anchor: String?)
            case mappingStart(anchor: String?)
            case collectionEnd
            case end
        }

        let kind: Kind
        let mark: YAMLTree.Mark
    }

    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let text: UnsafeMutableBufferPointer<UInt8>

    init(_ text: String) throws(YAMLFault) {
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        guard unsafe yaml_parser_initialize(parser) == 1 else {
            unsafe parser.deallocate()
            throw .noMemory
        }
        let bytes = Array(text.utf8)
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = unsafe copy.initialize(from: bytes)
        unsafe self.parser = parser
        unsafe self.text = copy
        unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        unsafe yaml_parser_set_input_string(parser, copy.baseAddress, copy.count)
    }

    deinit {
        unsafe yaml_parser_delete(parser)
        unsafe parser.deallocate()
        unsafe text.deallocate()
    }

    /// Returns nil after the last event.
    func next() throws(YAMLFault) -> Event? {
        var event = unsafe yaml_event_t()
        guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw fault }
        defer { unsafe yaml_event_delete(&event) }
        guard let kind = unsafe Self.kind(of: event) else { return nil }
        return unsafe Event(kind: kind, mark: YAMLTree.Mark(event.start_mark))
    }

    private static func kind(of event: yaml_event_t) -> Event.Kind? {
        switch unsafe event.type {
        case YAML_NO_EVENT: return nil
        case YAML_STREAM_END_EVENT: return .end
        case YAML_DOCUMENT_START_EVENT: return .document
        case YAML_ALIAS_EVENT: return unsafe .alias(string(event.data.alias.anchor) ?? "")
        case YAML_SCALAR_EVENT:
            let scalar = unsafe event.data.scalar
            return unsafe .scalar(
                YAMLTree.Scalar(
                    text: String(
                        decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length),
                        as: UTF8.self
                    ),
                    isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE,
                    hasTag: scalar.tag != nil
                ),
                anchor: string(scalar.anchor)
            )
        case YAML_SEQUENCE_START_EVENT: return unsafe .sequenceStart(anchor: string(event.data.sequence_start.anchor))
        case YAML_MAPPING_START_EVENT: return unsafe .mappingStart(anchor: string(event.data.mapping_start.anchor))
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: return .collectionEnd
        default: return .nothing
        }
    }

    private static func string(_ text: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        unsafe text.map { unsafe String(cString: $0) }
    }

    private var fault: YAMLFault {
        let problem = unsafe parser.pointee.problem.map { unsafe String(cString: $0) } ?? ""
        switch unsafe parser.pointee.error {
        case YAML_MEMORY_ERROR: return .noMemory
        case YAML_READER_ERROR: return .unreadable(problem)
        default: return unsafe .syntax(problem, YAMLTree.Mark(parser.pointee.problem_mark))
        }
    }
}

extension YAMLTree.Mark {
    fileprivate init(_ mark: yaml_mark_t) {
        self.init(line: Int(mark.line) + 1, column: Int(mark.column) + 1)
    }
}
