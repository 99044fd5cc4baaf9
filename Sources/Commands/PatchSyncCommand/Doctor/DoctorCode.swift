/// What a look at a device may find wrong, for programs; the page "When a device has trouble" has a row for each.
enum DoctorCode: String, CaseIterable {
    // The store.
    case noStore, settingsUnreadable, notWritable, otherOwner, openToOthers, stateDamaged, copied, appBuild, syncFailed
    // The machine.
    case diskFull, diskLow, noRoom, clockBehind, clockDiffers, proxySet, portTaken, noWatches, zoneUnreadable
    // Trust.
    case rootMissing, rootUnreadable, rootDiffers, rootExpired
    // The way to a server.
    case nameUnknown, nameServiceSilent, noCommonFamily, noConnection, noAnswer, busy
    case certificateUntrusted, certificateName, certificateExpired, certificateEarly, pinned, noTLS
    case webPage, redirected, noHTTP
    // What it says.
    case notFound, noChannel, channelRetired, altered, rolesExpired, serverBehind, serverFailed
}
