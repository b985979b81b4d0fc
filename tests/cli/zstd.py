"""Makes zstd frames with the shared library, so that tests choose the content of each frame and block."""

import ctypes

_lib = ctypes.CDLL('libzstd.so.1')
for _name in ('ZSTD_createCCtx', 'ZSTD_createDCtx'):
    getattr(_lib, _name).restype = ctypes.c_void_p
for _name in ('ZSTD_compressStream2', 'ZSTD_decompressStream', 'ZSTD_CCtx_setParameter',
              'ZSTD_findFrameCompressedSize'):
    getattr(_lib, _name).restype = ctypes.c_size_t
_lib.ZSTD_isError.argtypes = [ctypes.c_size_t]
_lib.ZSTD_freeCCtx.argtypes = _lib.ZSTD_freeDCtx.argtypes = [ctypes.c_void_p]
_lib.ZSTD_CCtx_setParameter.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
_lib.ZSTD_compressStream2.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int]
_lib.ZSTD_decompressStream.argtypes = [ctypes.c_void_p] * 3
_lib.ZSTD_findFrameCompressedSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]

_LEVEL, _WINDOW_LOG, _CHECKSUM = 100, 101, 201  # ZSTD_cParameter
_FLUSH, _END = 1, 2  # ZSTD_EndDirective


class _Buffer(ctypes.Structure):
    """ZSTD_inBuffer and ZSTD_outBuffer."""
    _fields_ = [('p', ctypes.c_void_p), ('size', ctypes.c_size_t), ('pos', ctypes.c_size_t)]


def frame(*blocks, checksum=True, level=3, window_log=None):
    """One frame of the given pieces of text (bytes); each ends a block."""
    c = ctypes.c_void_p(_lib.ZSTD_createCCtx())
    parameters = {_LEVEL: level, _CHECKSUM: int(checksum)}
    if window_log:
        parameters[_WINDOW_LOG] = window_log
    for parameter, value in parameters.items():
        if _lib.ZSTD_isError(_lib.ZSTD_CCtx_setParameter(c, parameter, value)):
            raise ValueError(f'zstd parameter {parameter} = {value}')
    room = ctypes.create_string_buffer(sum(map(len, blocks)) + 1024 * (len(blocks) + 1))
    out = _Buffer(ctypes.addressof(room), len(room), 0)
    for i, block in enumerate(blocks or [b'']):
        directive = _END if i + 1 >= len(blocks) else _FLUSH
        source = _Buffer(ctypes.cast(ctypes.c_char_p(block), ctypes.c_void_p), len(block), 0)
        left = _lib.ZSTD_compressStream2(c, ctypes.byref(out), ctypes.byref(source), directive)
        if left:
            raise ValueError('zstd: no room')
    _lib.ZSTD_freeCCtx(c)
    return room.raw[:out.pos]


def skippable(content, number=0):
    """A skippable frame (RFC 8878, 3.1.2)."""
    return (0x184D2A50 + number).to_bytes(4, 'little') + len(content).to_bytes(4, 'little') + content


def decodable(data):
    """What a decoder gets out of `data` before the end or the first damage."""
    d = ctypes.c_void_p(_lib.ZSTD_createDCtx())
    room = ctypes.create_string_buffer(1 << 20)
    source = _Buffer(ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p), len(data), 0)
    text = b''
    while True:
        out = _Buffer(ctypes.addressof(room), len(room), 0)
        before = source.pos
        left = _lib.ZSTD_decompressStream(d, ctypes.byref(out), ctypes.byref(source))
        text += room.raw[:out.pos]
        if _lib.ZSTD_isError(left) or (source.pos == before and out.pos == 0):
            break
    _lib.ZSTD_freeDCtx(d)
    return text


def whole_frame(data):
    """Bytes of the frame that `data` begins with; 0: it is cut off or damaged."""
    n = _lib.ZSTD_findFrameCompressedSize(data, len(data))
    return 0 if _lib.ZSTD_isError(n) else n
