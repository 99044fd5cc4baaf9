package import PatchFormat

/// What this copy of the engine knows of itself.
package enum Build {
    /// 2026-11-20: when this source was released; set anew for each release of Patchline.
    ///
    /// A constant, so that the same source gives the same program.
    package static let time = UTCTime(seconds: 1_795_132_800)
}
