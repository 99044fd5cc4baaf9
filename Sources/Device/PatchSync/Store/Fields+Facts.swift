import PatchChoice
import PatchFormat

/// The facts of a device, as written in its configuration and in the facts given for another device.
extension Fields {
    func appVersion() throws(FormatError) -> AppVersion? {
        guard let text = try optionalString("appVersion") else { return nil }
        guard let version = AppVersion(text) else { throw broken("appVersion", AppVersion.rule) }
        return version
    }

    func userID() throws(FormatError) -> PatchFormat.UserID? {
        guard let text = try optionalString("user") else { return nil }
        guard let user = PatchFormat.UserID(text) else { throw broken("user", PatchFormat.UserID.rule) }
        return user
    }

    func conditionData() throws(FormatError) -> [ConditionKey: ConditionValue] {
        guard has("data") else { return [:] }
        let fields = try fields("data")
        var data: [ConditionKey: ConditionValue] = [:]
        for member in fields.object.members {
            guard let key = ConditionKey(member.key.text) else {
                throw fields.broken(member.key.text, ConditionKey.rule)
            }
            guard let value = ConditionValue(try fields.string(member.key.text)) else {
                throw fields.broken(member.key.text, ConditionValue.rule)
            }
            data[key] = value
        }
        return data
    }

    func platform() throws(FormatError) -> Platform? {
        guard has("platform") else { return nil }
        let part = try fields("platform")
        guard
            let platform = Platform(
                name: try part.string("name"),
                compatibility: try part.string("compatibility")
            )
        else { throw broken("platform", Platform.rule) }
        return platform
    }
}
