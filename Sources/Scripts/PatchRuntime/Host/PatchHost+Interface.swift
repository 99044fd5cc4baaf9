import PatchFormat
import PatchLanguage

extension PatchHost {
    /// The exposed types as a JSON document (`patchline-host-v1`), for `patchsign` and `patchscript check --host`.
    public var interface: String {
        withCore { core in String(decoding: core.interface.json.fileBytes, as: UTF8.self) }
    }
}

extension HostCore {
    var interface: HostInterface {
        HostInterface(
            types: types.values.sorted { $0.name < $1.name }.map { type in
                HostInterface.ExposedType(
                    name: type.name,
                    parent: type.parent,
                    constructor: type.members.first { $0.kind == .constructor }?.arguments,
                    methods: type.members.filter { $0.kind == .method }.map(HostInterface.Method.init),
                    statics: type.members.filter { $0.kind == .staticMethod }.map(HostInterface.Method.init)
                )
            }
        )
    }
}

extension HostInterface.Method {
    fileprivate init(_ member: PatchMember) {
        let waits =
            switch member.body {
            case .sync: false
            case .async: true
            }
        self.init(name: member.name, arguments: member.arguments, returns: member.result, waits: waits)
    }
}
