import PatchFormat
import SystemPackage
import YAMLReading

extension DaemonSettings {
    /// Reads a file's text.
    ///
    /// Every key must be known, and every value must follow its rule.
    ///
    /// - Parameter name: The file's name, for error messages.
    package init(_ bytes: [UInt8], named name: String) throws(DaemonSettingsFault) {
        self.init()
        let file = try SettingsText(bytes, named: name)
        guard let root = file.tree.root else { throw file.fault(nil, "names no store", hint: Self.sample) }
        let rows = try file.rows(of: root, known: ["socket", "stores"], what: "the file")
        if let row = rows["socket"] {
            let text = try file.text(row, "socket")
            socket = text == "none" ? .none : .at(try file.path(text, "socket", row))
        }
        guard let row = rows["stores"] else { throw file.fault(nil, "names no store", hint: Self.sample) }
        let named = try file.pairs(of: row.value, what: "stores", at: row.line)
        stores = try named.map { pair throws(DaemonSettingsFault) in try file.store((pair.key, pair.line), pair.value) }
            .sorted { $0.name < $1.name }
        guard !stores.isEmpty else { throw file.fault(row.line, "stores names no store", hint: Self.sample) }
        for (index, store) in stores.enumerated() {
            guard let other = stores[..<index].first(where: { $0.store == store.store }) else { continue }
            throw file.fault(row.line, "stores gives \(other.name) and \(store.name) the same folder")
        }
    }

    private static let sample = "a store is NAME: and below it, indented, store: /var/lib/patchline/NAME"
}

extension StoreSettings {
    /// The members of a store in the settings file.
    package static var members: [String] { StoreSetting.allCases.map(\.name) + DeviceSetting.allCases.map(\.name) }

    /// The options of `serve` and `set` that are not members, with the reason.
    package static let elsewhere = [
        "next-free-port": "each store of the daemon keeps its port; `port:` gives it another one.",
        "scripts": "script patches run in a program of their own; `patchsync serve --scripts` tries them out.",
        "embedded": "`patchsync init --embedded` makes the store, and `patchsync set --embedded` moves it.",
        "user-file": "name the user with `user:`, and make the settings file readable for its owner alone.",
        "data-file": "name the pairs below `data:`.",
        "unset": "write the key of `data:` without a value.",
        "own-host": "write `host: own`.",
        "no-own-host": "write `host: 127.0.0.1`.",
        "json": "`patchsync run --json` prints JSON.",
    ]
}

extension SettingsText {
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
        let rows = try rows(
            of: node,
            known: StoreSettings.members,
            what: key.text,
            elsewhere: StoreSettings.elsewhere
        )
        guard case (.text(let folder), _)? = try value(of: StoreSetting.store, in: rows) else {
            throw fault(key.line, "\(key.text) has no store: its folder")
        }
        var store = StoreSettings(name: key.text, store: FilePath(folder))
        store.origin = try origin(rows, key)
        for setting in StoreSetting.allCases {
            guard let (value, row) = try value(of: setting, in: rows) else { continue }
            do throws(SettingFault) { try store.take(value, for: setting) } catch {
                throw fault(line(of: error, row), error.words(setting.name))
            }
        }
        // Without pages there is no first page that could start the timer.
        if rows[StoreSetting.startupTimer.name] == nil { store.countsLaunch = !store.serves }
        try readDevice(rows, &store)
        if let rule = store.conflict { throw fault(key.line, rule) }
        return store
    }

    private func origin(
        _ rows: [String: Row],
        _ key: (text: String, line: Int)
    ) throws(DaemonSettingsFault) -> StoreSettings.Origin? {
        let server = try parsed(.server, rows) { ServerURL($0) }
        let root = try parsed(.root, rows) { FilePath($0) }
        let channel = try parsed(.channel, rows) { ChannelName($0) }
        if let server, let root { return StoreSettings.Origin(server: server, root: root, channel: channel) }
        guard server == nil, root == nil, channel == nil else {
            throw fault(
                key.line,
                "\(key.text) has only some of server, root and channel; a new store needs server and root",
                hint: "set server and root, or none of the three if `patchsync init` makes the store."
            )
        }
        return nil
    }

    private func parsed<Value>(
        _ setting: StoreSetting,
        _ rows: [String: Row],
        _ parse: (String) -> Value?
    ) throws(DaemonSettingsFault) -> Value? {
        guard case (.text(let text), let row)? = try value(of: setting, in: rows) else { return nil }
        guard let value = parse(text) else { throw fault(row.line, "\(setting.name) \(setting.rule)") }
        return value
    }

    private func readDevice(_ rows: [String: Row], _ store: inout StoreSettings) throws(DaemonSettingsFault) {
        for setting in DeviceSetting.allCases {
            guard let (value, row) = try value(of: setting, in: rows) else { continue }
            store.device[setting] = value
            // The text of a certificate file is checked when the file is read.
            guard setting.form != .file else { continue }
            var settings = DeviceSettings()
            do throws(SettingFault) { try settings.take(value, for: setting) } catch {
                throw fault(line(of: error, row), error.words(setting.name))
            }
        }
        do throws(NamedSettingFault) {
            _ = try DeviceSettings(store.device.filter { $0.key.form != .file })
        } catch {
            let row = rows[error.setting.name] ?? rows[DeviceSetting.compatibility.name]
            throw fault(row?.line, error.fault.words(error.setting.name))
        }
    }

    /// Returns the line of the item that violates the rule, else of its setting.
    private func line(of fault: SettingFault, _ row: Row) -> Int {
        guard let item = fault.item, case .sequence(let items) = tree[row.value].content else { return row.line }
        let node = items.first { if case .scalar(let scalar) = tree[$0].content { scalar.text == item } else { false } }
        return node.map { tree[$0].mark.line } ?? row.line
    }

    private static func isName(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        func isWord(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) }
        guard let first = bytes.first, bytes.count <= 64 else { return false }
        return isWord(first) && bytes.allSatisfy { isWord($0) || "-_.".utf8.contains($0) }
    }
}
