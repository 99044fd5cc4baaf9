#include <zlib.h>

// Swift reads no macros that call functions.
static inline int patchline_inflate_init(z_streamp stream) { return inflateInit2(stream, 15 + 16); }
static inline int patchline_deflate_init(z_streamp stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
}
