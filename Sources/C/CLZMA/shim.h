#include <lzma.h>
#include <string.h>

// Two filters and a preset dictionary are pointers within pointers: they are put together here, on the stack.

static inline void patchline_lzma_options(lzma_options_lzma *options, const uint8_t *prefix, size_t prefix_size,
                                          size_t content_size) {
    memset(options, 0, sizeof *options);
    size_t dictionary = prefix_size + content_size;
    options->dict_size = dictionary < LZMA_DICT_SIZE_MIN ? LZMA_DICT_SIZE_MIN : (uint32_t)dictionary;
    options->preset_dict = prefix_size == 0 ? NULL : prefix;
    options->preset_dict_size = (uint32_t)prefix_size;
    // Text, whose bytes stand at no particular places.
    options->lc = 3;
    options->lp = 0;
    options->pb = 0;
    options->mode = LZMA_MODE_NORMAL;
    options->nice_len = 273;
    options->mf = LZMA_MF_BT3;
    options->depth = 400;
}

// Encodes content as raw LZMA2; returns LZMA_OK and sets *written.
static inline lzma_ret patchline_lzma2_encode(const uint8_t *prefix, size_t prefix_size, const uint8_t *content,
                                              size_t content_size, uint8_t *out, size_t out_size, size_t *written) {
    lzma_options_lzma options;
    patchline_lzma_options(&options, prefix, prefix_size, content_size);
    lzma_filter filters[2] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, NULL}};
    *written = 0;
    return lzma_raw_buffer_encode(filters, NULL, content, content_size, out, written, out_size);
}

// Decodes one raw LZMA2 stream of exactly content_size bytes; sets how many bytes were read and written.
static inline lzma_ret patchline_lzma2_decode(const uint8_t *prefix, size_t prefix_size, const uint8_t *frame,
                                              size_t frame_size, uint8_t *out, size_t content_size, size_t *read,
                                              size_t *written) {
    lzma_options_lzma options;
    patchline_lzma_options(&options, prefix, prefix_size, content_size);
    lzma_filter filters[2] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, NULL}};
    *read = 0;
    *written = 0;
    return lzma_raw_buffer_decode(filters, NULL, frame, read, frame_size, out, written, content_size);
}
