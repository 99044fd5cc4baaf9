#include <zlib.h>

// Swift reads no macros that call functions. `window` is zlib's windowBits: 31 for gzip, -15 for bare deflate.
static inline int patchline_inflate_init(z_streamp stream, int window) { return inflateInit2(stream, window); }
static inline int patchline_deflate_init(z_streamp stream, int level, int window) {
    return deflateInit2(stream, level, Z_DEFLATED, window, 9, Z_DEFAULT_STRATEGY);
}
