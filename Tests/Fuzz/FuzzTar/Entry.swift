import Fuzzing

@c(LLVMFuzzerTestOneInput)
func one(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    unsafe attempt(bytes(start, count))
    return 0
}

@c(FuzzTar_main)
func start(_ count: Int32, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> Int32 {
    unsafe fuzz(count, arguments, one)
}
