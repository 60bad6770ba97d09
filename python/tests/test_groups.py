"""Quantisation in groups, against the floats of ml_dtypes."""

import itertools

import ml_dtypes
import numpy as np
import pytest

import slipring

NAMES = {np.float32: "f32", np.float16: "f16", ml_dtypes.bfloat16: "bf16"}
LARGEST = {"MXFP8": 448.0, "MXFP4_E2M1": 6.0}


def expected(values, quant, rule):
    """Exponent, maximum, factor and elements of a group of 32."""
    wide = np.abs(values).astype(np.float32)
    if values.dtype == np.float16 and rule == "ocp":
        wide = (wide.view(np.uint32) & 0xFFFF0000).view(np.float32)
    largest = np.max(wide)
    if largest == 0:
        exponent = 0
    elif rule == "ocp":
        exponent = max(0, int(np.frexp(largest)[1]) + 126 - int(np.log2(LARGEST[quant])))
    else:
        scaled = largest * np.float32(1 / LARGEST[quant])
        exponent = next(n for n in range(255) if 2.0 ** (n - 127) >= float(scaled))
    factor = np.float32(2.0 ** (127 - exponent))
    product = np.clip(values.astype(np.float32) * factor, -LARGEST[quant], LARGEST[quant])
    short = ml_dtypes.float8_e4m3fn if quant == "MXFP8" else ml_dtypes.float4_e2m1fn
    return exponent, largest, factor, product.astype(short).view(np.uint8)


def text(types, extents, attrs):
    """A kernel that quantises a tile and stores all results."""
    lines = [f"!{name} = !pto.tile_buf<vec, {ty}>" for name, ty in types.items()]
    params = ", ".join(f"%{name}: !pto.ptr<{elem}>" for name, (_, _, elem) in extents.items())
    lines += [f"func.func @k({params}) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{"]
    lines += ["%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index"]
    for name, (rows, cols, elem) in extents.items():
        view = f"!pto.tensor_view<?x?x{elem}>"
        lines += [
            f"%{name}r = arith.constant {rows} : index",
            f"%{name}c = arith.constant {cols} : index",
            f"%{name}v = pto.make_tensor_view %{name}, shape = [%{name}r, %{name}c], "
            f"strides = [%{name}c, %c1] : {view}",
            f"%{name}p = pto.partition_view %{name}v, offsets = [%c0, %c0], sizes = [%{name}r, %{name}c] : "
            f"{view} -> !pto.partition_tensor_view<{rows}x{cols}x{elem}>",
            f"%{name}t = pto.alloc_tile : !{name}",
        ]
    part = {name: f"!pto.partition_tensor_view<{r}x{c}x{elem}>" for name, (r, c, elem) in extents.items()}
    lines += [f"pto.tload ins(%srcp : {part['src']}) outs(%srct : !src)"]
    results = ["dst", "exp", "max", "scaling"]
    lines += [
        f"pto.tquant.mx ins(%srct : !src) outs({', '.join(f'%{name}t' for name in results)} : "
        f"{', '.join(f'!{name}' for name in results)}) {{{attrs}}}"
    ]
    lines += [f"pto.tstore ins(%{name}t : !{name}) outs(%{name}p : {part[name]})" for name in results]
    return "\n".join([*lines, "return", "}", ""])


FORMS = [
    (dtype, quant, rule, axis, interleave)
    for dtype, quant, rule, axis, interleave in itertools.product(
        NAMES, LARGEST, ["ocp", "nv"], ["axis0", "axis1"], [False, True]
    )
    if not (dtype is np.float32 and (quant != "MXFP8" or interleave))
    and not (axis == "axis1" and (interleave or (rule == "nv" and dtype is not np.float32)))
]


@pytest.mark.parametrize(("dtype", "quant", "rule", "axis", "interleave"), FORMS)
def test_a_tile_in_groups(tmp_path, dtype, quant, rule, axis, interleave):
    rows, cols, elem = 64, 64, NAMES[dtype]
    draw = np.random.default_rng(5)
    x = (draw.standard_normal((rows, cols)) * np.exp2(draw.integers(-12, 10, (rows, cols)))).astype(dtype)
    x[2] = 0
    packed = quant != "MXFP8"
    short, width = ("!pto.f4E2M1x2", cols // 2) if packed else ("i8", cols)
    if axis == "axis0":
        groups = x.reshape(rows // 32, 32, cols).transpose(0, 2, 1).reshape(-1, 32)
        notes, exps = (rows // 32, cols), (rows // 64, 2 * cols) if interleave else (rows // 32, cols)
        scaling = f"{notes[0]}x{notes[1]}x{elem}"
    else:
        groups = x.reshape(-1, 32)
        notes = exps = (1, len(groups))
        # Of f32 the library works on two registers at a time and stores each factor twice.
        scaling = f"1x{max(256, 2 * len(groups))}x{elem}, valid=1x{len(groups)}"
    types = {
        "src": f"{rows}x{cols}x{elem}",
        "dst": f"{rows}x{width}x{short}",
        "exp": f"{exps[0]}x{exps[1]}xui8",
        "max": f"{notes[0]}x{notes[1]}x{elem}",
        "scaling": scaling,
    }
    extents = {"src": (rows, cols, elem), "dst": (rows, width, short), "exp": (*exps, "ui8")}
    extents |= {"max": (*notes, elem), "scaling": (*notes, elem)}
    attrs = f"quant_type = #pto<quant_type {quant}>, quantScaleAlg = #pto<quant_scale_alg {rule}>, "
    attrs += f"grpAxis = #pto<mx_group_axis {axis}>, interleave = {str(interleave).lower()}"
    path = tmp_path / "k.pto"
    path.write_text(text(types, extents, attrs))
    dst = np.zeros((rows, cols), ml_dtypes.float4_e2m1fn) if packed else np.zeros((rows, cols), np.int8)
    exp, largest, factor = np.zeros(exps, np.uint8), np.zeros(notes, dtype), np.zeros(notes, dtype)
    slipring.open(path, platform="a5")(x, dst, exp, largest, factor)

    each = [expected(group, quant, rule) for group in groups]
    codes = np.array([own[3] for own in each])
    if axis == "axis0":
        codes = codes.reshape(rows // 32, cols, 32).transpose(0, 2, 1)
    exponents = np.array([own[0] for own in each], np.uint8)
    if interleave:
        exponents = exponents.reshape(rows // 64, 2, cols).transpose(0, 2, 1)
    factors = np.array([own[2] for own in each], np.float32)
    if dtype is np.float32 and axis == "axis1":
        factors = np.repeat(factors, 2)[: len(groups)]
    short_bits = ml_dtypes.bfloat16 if elem != "f32" else np.float32
    of_max = np.float16 if elem == "f16" and rule == "nv" else short_bits
    assert np.array_equal(dst.view(np.uint8), codes.reshape(rows, cols))
    assert np.array_equal(exp.ravel(), exponents.ravel())
    assert np.array_equal(largest.view(of_max).astype(np.float32).ravel(), [own[1] for own in each])
    assert np.array_equal(factor.view(short_bits).astype(np.float32).ravel(), factors)
