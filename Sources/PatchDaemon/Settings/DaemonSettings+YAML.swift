import APIProxy
import PatchFormat
import PatchSync
import SystemPackage
import YAMLReading

extension DaemonSettings {
    /// Reads a file's text: every key is known, and every value follows its rule.
    ///
    /// - Parameter name: for error messages.
    package init(_ bytes: [UInt8], named name: String) throws(DaemonSettingsFault) {
        self.init()
        let file = SettingsText(name: name, tree: try SettingsText.tree(bytes, name))
        guard let root = file.tree.root else { throw file.fault(nil, "names no store", hint: Self.sample) }
        let rows = try file.rows(of: root, known: ["socket", "stores"], what: "the file")
        if let row = rows["socket"] {
            let text = try file.text(row, "socket")
            socket = text == "none" ? .none : .at(try file.path(text, "socket", row))
        }
        guard let row = rows["stores"] else { throw file.fault(nil, "names no store", hint: Self.sample) }
        let named = try file.pairs(of: row.value, what: "stores", at: row.line)
        stores = try named.map { key, value throws(DaemonSettingsFault) in try file.store(key, value) }
            .sorted { $0.name < $1.name }
        guard !stores.isEmpty else { throw file.fault(row.line, "stores names no store", hint: Self.sample) }
        for (index, store) in stores.enumerated() {
            guard let other = stores[..<index].first(where: { $0.store == store.store }) else { continue }
            throw file.fault(row.line, "stores gives \(other.name) and \(store.name) the same folder")
        }
    }

    private static let sample = "a store is NAME: and below it, indented, store: /var/lib/patchline/NAME"
}

/// A settings file while it is read.
private struct SettingsText {
    struct Row {
        let value: Int
        let line: Int
    }

    let name: String
    let tree: YAMLTree

    static func tree(_ bytes: [UInt8], _ name: String) throws(DaemonSettingsFault) -> YAMLTree {
        let text: String
        do throws(FileText.Problem) { text = try FileText.decode(bytes) } catch {
            throw DaemonSettingsFault(file: name, line: nil, rule: error.rawValue)
        }
        do throws(YAMLFault) { return try YAMLTree(text) } catch {
            switch error {
            case .syntax(let problem, let mark):
                throw DaemonSettingsFault(file: name, line: mark.line, rule: "is not YAML: \(problem)")
            case .duplicateKeys(let names, let mark):
                let keys = names.map { "'\($0)'" }.joined(separator: ", ")
                throw DaemonSettingsFault(file: name, line: mark.line, rule: "sets \(keys) twice")
            case .unreadable, .noMemory: throw DaemonSettingsFault(file: name, line: nil, rule: "is not YAML")
            }
        }
    }

    func fault(_ line: Int?, _ rule: String, hint: String? = nil) -> DaemonSettingsFault {
        DaemonSettingsFault(file: name, line: line, rule: rule, hint: hint)
    }

    func pairs(
        of node: Int,
        what: String,
        at line: Int
    ) throws(DaemonSettingsFault) -> [(key: (text: String, line: Int), value: Int)] {
        guard case .mapping(let pairs) = tree[node].content else {
            throw fault(line, "\(what) must be a mapping: name: value")
        }
        var found: [(key: (text: String, line: Int), value: Int)] = []
        for (key, value) in pairs {
            let line = tree[key].mark.line
            guard case .scalar(let scalar) = tree[key].content else {
                throw fault(line, "\(what) must have plain text as keys")
            }
            found.append(((scalar.text, line), value))
        }
        return found
    }

    /// What has a value.
    func rows(of node: Int, known: [String], what: String) throws(DaemonSettingsFault) -> [String: Row] {
        var rows: [String: Row] = [:]
        for (key, value) in try pairs(of: node, what: what, at: tree[node].mark.line) {
            guard known.contains(key.text) else {
                throw fault(
                    key.line,
                    "there is no setting '\(key.text)'",
                    hint: key.text.nearest(among: known).map { "did you mean \($0)?" }
                        ?? "there are \(known.joined(separator: ", "))."
                )
            }
            if case .scalar(let scalar) = tree[value].content, scalar.isUnset { continue }
            rows[key.text] = Row(value: value, line: key.line)
        }
        return rows
    }

    func text(_ row: Row, _ key: String) throws(DaemonSettingsFault) -> String {
        guard case .scalar(let scalar) = tree[row.value].content else {
            throw fault(row.line, "\(key) must have one value")
        }
        return scalar.text
    }

    func path(_ text: String, _ key: String, _ row: Row) throws(DaemonSettingsFault) -> FilePath {
        let path = FilePath(text)
        guard path.isAbsolute, !text.utf8.contains(0) else { throw fault(row.line, "\(key) must be a path from / on") }
        // Not normalized: `..` after a link leaves the folder that the link leads to (`resolved(named:)`).
        return path
    }

    private static let keys = [
        "store", "server", "root", "channel", "sync-every", "serve", "port", "bundle", "startup-timeout",
        "startup-timer", "url-file", "uploads", "proxy", "proxies",
    ]

    func store(_ key: (text: String, line: Int), _ node: Int) throws(DaemonSettingsFault) -> StoreSettings {
        guard Self.isName(key.text) else {
            throw fault(
                key.line,
                "the name '\(key.text)' must be 1 to 64 of a-z, 0-9, '-', '_' and '.', a letter or digit first"
            )
        }
        guard case .mapping = tree[node].content else {
            throw fault(key.line, "\(key.text) must be a mapping: name: value")
        }
        let rows = try rows(of: node, known: Self.keys, what: key.text)
        func value<Value>(
            _ key: String,
            _ rule: String,
            _ parse: (String) -> Value?
        ) throws(DaemonSettingsFault) -> Value? {
            guard let row = rows[key] else { return nil }
            guard let value = parse(try text(row, key)) else { throw fault(row.line, "\(key) \(rule)") }
            return value
        }
        func path(_ key: String) throws(DaemonSettingsFault) -> FilePath? {
            guard let row = rows[key] else { return nil }
            return try self.path(try text(row, key), key, row)
        }
        guard let folder = try path("store") else { throw fault(key.line, "\(key.text) has no store: its folder") }
        var store = StoreSettings(name: key.text, store: folder)
        let server = try value("server", ServerURL.rule) { ServerURL($0) }
        let root = try path("root")
        let channel = try value("channel", ChannelName.rule) { ChannelName($0) }
        if let server, let root {
            store.origin = StoreSettings.Origin(server: server, root: root, channel: channel)
        } else if server != nil || root != nil || channel != nil {
            throw fault(
                key.line,
                "\(key.text) has one of server, root and channel without the others that a store is made from",
                hint: "name server and root, or none of them where `patchsync init` makes the store."
            )
        }
        if let every = try value("sync-every", "must be a length of time such as 15m or 1h, or off", Self.interval) {
            store.syncEvery = every.length
        }
        store.serves = try value("serve", "must be true or false") { ["true": true, "false": false][$0] } ?? true
        store.port = try value("port", "must be from 0 to 65535") { text in
            Int(text).flatMap { (0...65_535).contains($0) ? $0 : nil }
        }
        store.bundle = try value("bundle", PatchID.rule) { PatchID($0) }
        if let timeout = try value("startup-timeout", "must be a length of time from 1ms to 1h, such as 20s", Self.time)
        {
            store.startupTimeout = timeout
        }
        // Without pages there is no first one.
        store.countsLaunch =
            try value("startup-timer", "must be page or launch") { ["page": false, "launch": true][$0] }
            ?? !store.serves
        store.urlFile = try path("url-file")
        store.uploads = try path("uploads")
        if let uploads = store.uploads, uploads.starts(with: folder) || folder.starts(with: uploads) {
            // Who has the access token could read what is the store's, or change it.
            throw fault(key.line, "uploads of \(key.text) must not be its store, lie in it or hold it")
        }
        store.proxy = try rules(rows["proxy"])
        store.proxies = try path("proxies")
        return store
    }

    private func rules(_ row: Row?) throws(DaemonSettingsFault) -> [String] {
        guard let row else { return [] }
        guard case .sequence(let items) = tree[row.value].content, items.count <= ProxyRules.maxRules else {
            throw fault(row.line, "proxy must be a list of at most \(ProxyRules.maxRules) rules")
        }
        return try items.map { item throws(DaemonSettingsFault) in
            let row = Row(value: item, line: tree[item].mark.line)
            let text = try text(row, "proxy")
            do throws(ProxyRuleError) { _ = try ProxyRule(argument: text) } catch {
                throw fault(row.line, "proxy '\(text)' \(error)")
            }
            return text
        }
    }

    private static func isName(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        func isWord(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) }
        guard let first = bytes.first, bytes.count <= 64 else { return false }
        return isWord(first) && bytes.allSatisfy { isWord($0) || "-_.".utf8.contains($0) }
    }

    private static func interval(_ text: String) -> (length: Duration?, Void)? {
        if text == "off" { return (nil, ()) }
        guard let length = length(text), length >= .seconds(1), length <= .seconds(31_536_000) else { return nil }
        return (length, ())
    }

    private static func time(_ text: String) -> Duration? {
        guard let length = length(text), length >= .milliseconds(1), length <= .seconds(3_600) else { return nil }
        return length
    }

    /// As `15m`.
    private static func length(_ text: String) -> Duration? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = Int64(digits), count <= 1_000_000_000 else { return nil }
        return switch text.dropFirst(digits.count) {
        case "ms": .milliseconds(count)
        case "s": .seconds(count)
        case "m": .seconds(count * 60)
        case "h": .seconds(count * 3_600)
        case "d": .seconds(count * 86_400)
        default: nil
        }
    }
}

extension YAMLTree.Scalar {
    fileprivate var isUnset: Bool { isPlain && ["", "~", "null"].contains(text) }
}
