/// The codes of a device's possible problems, for programs.
///
/// The page "When a device has trouble" has a row for each.
enum DoctorCode: String, CaseIterable {
    // The store.
    case noStore, settingsUnreadable, notWritable, otherOwner, openToOthers, stateDamaged, copied, appBuild, syncFailed
    // The machine.
    case diskFull, diskLow, noRoom, clockBehind, clockDiffers, proxySet, portTaken, noWatches, zoneUnreadable
    // Trust.
    case rootMissing, rootUnreadable, rootDiffers, rootExpired
    // The connection to a server.
    case nameUnknown, nameServiceSilent, noCommonFamily, noConnection, noAnswer, busy
    case certificateUntrusted, certificateName, certificateExpired, certificateEarly, pinned, noTLS
    case webPage, redirected, noHTTP
    // The server's data.
    case notFound, noChannel, channelRetired, altered, rolesExpired, serverBehind, serverFailed
}
